// SPDX-License-Identifier: BSD-3-Clause
// As apps/cg: steps of the conjugate gradient method. Each node owns rows of the matrix, which nobody else sees, and
// those of the vectors; it reads all of p, whose elements are in no order.
#include <algorithm>
#include <numeric>

#include "common/partition.hpp"
#include "sim/timed/patterns.hpp"

namespace quire::timed {
namespace {

constexpr std::uint64_t value_bytes = sizeof(double);
/// Rows of a product that are computed between two looks at the page they go to.
constexpr std::uint64_t rows_at_once = 16;
enum vector : unsigned { x, z, p, q, r };

void work(node& me, const cg_shape& shape, apps::row_range mine) {
  const std::uint64_t first = mine.begin * value_bytes, bytes = (mine.end - mine.begin) * value_bytes;
  const std::uint64_t all = shape.rows * value_bytes, pages = (all + page_bytes - 1) / page_bytes;
  std::uint64_t hop = std::min<std::uint64_t>(11, pages);
  while (std::gcd(hop, pages) != 1) ++hop;

  const auto iterate = [&] {
    me.read(x, first, bytes);
    for (const unsigned vector : {z, r, p}) me.write(vector, first, bytes);
    me.sum(1);
    for (unsigned step = 0; step <= shape.steps; ++step) {
      // q = A p; in the end r = A z, to see how good z is.
      const bool last = step == shape.steps;
      const unsigned from = last ? z : p, to = last ? r : q;
      if (shape.hints) me.prefetch(from, 0, all);
      for (std::uint64_t i = 0; i < pages; ++i) me.read(from, i * hop % pages * page_bytes, value_bytes);
      for (std::uint64_t row = mine.begin; row < mine.end; row += rows_at_once) {
        const std::uint64_t rows = std::min(rows_at_once, mine.end - row);
        me.write(to, row * value_bytes, rows * value_bytes);
        me.compute(static_cast<time_ns>(shape.element_ns * shape.row_elements * static_cast<double>(rows)));
      }
      me.sum(1);
      if (last) break;
      for (const unsigned vector : {p, q}) me.read(vector, first, bytes);
      for (const unsigned vector : {z, r}) me.write(vector, first, bytes);
      me.sum(1);
      if (shape.hints && bytes != 0) me.prefetch(p, first, bytes, access::write);
      me.read(r, first, bytes);
      me.write(p, first, bytes);
      me.wait();
    }
    me.sum(2);
    me.read(z, first, bytes);
    me.write(x, first, bytes);
  };
  const auto warm_up = [&] {
    me.write(x, first, bytes);
    iterate();
    me.write(x, first, bytes);
  };
  const auto compute = [&] {
    for (unsigned i = 0; i < shape.iterations; ++i) iterate();
  };
  run_crew(me, warm_up, compute);
}

}  // namespace

pattern cg(const cg_shape& shape, unsigned nodes) {
  pattern what;
  what.regions.assign(5, {shape.rows * value_bytes, page_bytes});
  what.thread_of = [shape, nodes](unsigned number) {
    return [shape, mine = apps::block_of_rows(number, nodes, shape.rows, value_bytes, 2)](node& me) {
      work(me, shape, mine);
    };
  };
  return what;
}

}  // namespace quire::timed
