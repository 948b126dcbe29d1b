// SPDX-License-Identifier: BSD-3-Clause
// As apps/sor: half sweeps over blocks of rows, a barrier after each. A row is a unit, if that can be. In transactions:
// bands of the upper half of a block, a barrier, bands of the lower half, a barrier.
#include <algorithm>
#include <bit>

#include "common/partition.hpp"
#include "sor/bands.hpp"
#include "sim/timed/patterns.hpp"

namespace quire::timed {
namespace {

std::uint64_t unit_bytes(const sor_shape& shape) {
  const std::uint64_t row = shape.size * shape.cell_bytes;
  if (shape.transactional) return std::clamp<std::uint64_t>(std::bit_floor(row), page_bytes, 65'536);
  return std::has_single_bit(row) ? std::clamp<std::uint64_t>(row, page_bytes, 65'536) : page_bytes;
}

/// The block of rows of a node.
struct block {
  node& me;
  const sor_shape& shape;
  apps::row_range mine;

  [[nodiscard]] std::uint64_t row_bytes() const { return shape.size * shape.cell_bytes; }
  [[nodiscard]] std::uint64_t row(std::uint64_t i) const { return i * row_bytes(); }
  [[nodiscard]] std::uint64_t begin() const { return std::max<std::uint64_t>(mine.begin, 1); }
  [[nodiscard]] std::uint64_t end() const {
    return std::max(std::min<std::uint64_t>(mine.end, shape.size - 1), begin());
  }
  void relax(std::uint64_t i, unsigned sweep);
  void sweep(unsigned number);
  void sweep_in_transactions(unsigned number);
  void initialise();
};

void block::relax(std::uint64_t i, unsigned sweep) {
  const auto row_ns = static_cast<time_ns>(shape.cell_ns * static_cast<double>((shape.size - 2) / 2));
  const std::uint64_t first = (1 + (i + 1 + sweep % 2) % 2) * shape.cell_bytes / 8 * 8,
                      last = (shape.size - 1) * shape.cell_bytes / 8 * 8;
  me.work(row_ns, {{0, row(i) + first, last - first, access::write, 2 * shape.cell_bytes},
                   {0, row(i - 1), row_bytes()},
                   {0, row(i + 1), row_bytes()}});
}

void block::sweep(unsigned number) {
  const std::uint64_t from = begin(), to = end();
  const std::uint64_t quarter = from + (to - from + 3) / 4, half = from + (to - from + 1) / 2;
  for (std::uint64_t k = from; k < to; ++k) {
    // The first row has its turn after a quarter of the others.
    const std::uint64_t i = k + 1 < quarter ? k + 1 : k + 1 == quarter ? from : k;
    if (shape.hints && k == from && mine.begin != 0) {
      me.prefetch(0, row(mine.begin - 1), row_bytes());
      me.prefetch(0, row(mine.begin), row_bytes(), access::write);
    }
    if (shape.hints && k == half && mine.end != shape.size) {
      me.prefetch(0, row(mine.end - 1), row_bytes(), access::write);
      me.prefetch(0, row(mine.end), row_bytes());
    }
    relax(i, number);
  }
  me.wait();
}

void block::sweep_in_transactions(unsigned number) {
  const auto [upper, lower] = ::sor::halves_of({begin(), end()});
  const auto relax_bands = [&](apps::row_range half, bool border_above) {
    for (const apps::row_range& rows : ::sor::bands_of(half, border_above, row_bytes())) {
      me.atomically([&] {
        for (std::uint64_t i = rows.begin; i < rows.end; ++i) relax(i, number);
      });
    }
    me.wait();
  };
  if (shape.hints && mine.begin != 0) me.prefetch(0, row(mine.begin - 1), row_bytes());
  relax_bands(upper, true);
  if (shape.hints && mine.end != shape.size) me.prefetch(0, row(mine.end), row_bytes());
  relax_bands(lower, false);
}

void block::initialise() {
  if (!shape.transactional) {
    if (mine.begin < mine.end) me.write(0, row(mine.begin), (mine.end - mine.begin) * row_bytes());
    return;
  }
  for (const apps::row_range& rows : ::sor::bands_of(mine, false, row_bytes()))
    me.atomically([&] { me.write(0, row(rows.begin), (rows.end - rows.begin) * row_bytes()); });
}

void work(node& me, const sor_shape& shape, apps::row_range mine) {
  block b{me, shape, mine};
  const auto compute = [&] {
    for (unsigned sweep = 0; sweep < 2 * shape.iterations; ++sweep)
      shape.transactional ? b.sweep_in_transactions(sweep) : b.sweep(sweep);
  };
  run_crew(
      me, [&] { b.initialise(); }, compute);
}

}  // namespace

pattern sor(const sor_shape& shape, unsigned nodes) {
  pattern p;
  p.regions = {{.bytes = shape.size * shape.size * shape.cell_bytes,
                .unit_bytes = unit_bytes(shape),
                .transactional = shape.transactional}};
  p.thread_of = [shape, nodes](unsigned number) {
    return [shape, mine = apps::block_of_rows(number, nodes, shape.size, shape.size * shape.cell_bytes)](node& me) {
      work(me, shape, mine);
    };
  };
  return p;
}

}  // namespace quire::timed
