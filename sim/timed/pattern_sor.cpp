// SPDX-License-Identifier: BSD-3-Clause
// As apps/sor: half sweeps over blocks of rows, a barrier after each. A row is a unit, if that can be.
#include <algorithm>
#include <bit>

#include "common/partition.hpp"
#include "sim/timed/patterns.hpp"

namespace quire::timed {
namespace {

constexpr std::uint64_t cell_bytes = sizeof(double);

std::uint64_t unit_bytes(const sor_shape& shape) {
  const std::uint64_t row = shape.size * cell_bytes;
  return std::has_single_bit(row) ? std::clamp<std::uint64_t>(row, page_bytes, 65'536) : page_bytes;
}

void work(node& me, const sor_shape& shape, apps::row_range mine) {
  const std::uint64_t n = shape.size, row_bytes = n * cell_bytes;
  const auto row_ns = static_cast<time_ns>(shape.cell_ns * static_cast<double>((n - 2) / 2));
  const std::uint64_t end = std::min(mine.end, n - 1), begin = std::max<std::uint64_t>(mine.begin, 1);
  const std::uint64_t quarter = begin + (end - begin + 3) / 4, half = begin + (end - begin + 1) / 2;
  const auto row = [&](std::uint64_t i) { return i * row_bytes; };

  const auto set_up = [&] {
    if (mine.begin < mine.end) me.write(0, row(mine.begin), (mine.end - mine.begin) * row_bytes);
  };
  const auto compute = [&] {
    for (unsigned sweep = 0; sweep < 2 * shape.iterations; ++sweep) {
      for (std::uint64_t k = begin; k < end; ++k) {
        // The first row has its turn after a quarter of the others.
        const std::uint64_t i = k + 1 < quarter ? k + 1 : k + 1 == quarter ? begin : k;
        if (shape.hints && k == begin && mine.begin != 0) {
          me.prefetch(0, row(mine.begin - 1), row_bytes);
          me.prefetch(0, row(mine.begin), row_bytes, access::write);
        }
        if (shape.hints && k == half && mine.end != n) {
          me.prefetch(0, row(mine.end - 1), row_bytes, access::write);
          me.prefetch(0, row(mine.end), row_bytes);
        }
        const std::uint64_t first = 1 + (i + 1 + sweep % 2) % 2;
        me.work(row_ns, {{0, row(i) + first * cell_bytes, (n - 1 - first) * cell_bytes, access::write, 2 * cell_bytes},
                         {0, row(i - 1), row_bytes},
                         {0, row(i + 1), row_bytes}});
      }
      me.wait();
    }
  };
  run_crew(me, set_up, compute);
}

}  // namespace

pattern sor(const sor_shape& shape, unsigned nodes) {
  pattern p;
  p.regions = {{shape.size * shape.size * cell_bytes, unit_bytes(shape)}};
  p.thread_of = [shape, nodes](unsigned number) {
    return [shape, mine = apps::block_of_rows(number, nodes, shape.size, shape.size * cell_bytes)](node& me) { work(me, shape, mine); };
  };
  return p;
}

}  // namespace quire::timed
