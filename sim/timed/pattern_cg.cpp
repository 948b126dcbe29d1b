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
constexpr unsigned warm_up_steps = 2;
/// Rows of a product that are computed between two looks at the page they go to.
constexpr std::uint64_t rows_at_once = 16;
enum vector : unsigned { x, z, p, q, r };

program worker(cg_shape shape, apps::row_range mine) {
  const std::uint64_t first = mine.begin * value_bytes, bytes = (mine.end - mine.begin) * value_bytes;
  const std::uint64_t all = shape.rows * value_bytes, pages = (all + page_bytes - 1) / page_bytes;
  std::uint64_t hop = std::min<std::uint64_t>(11, pages);
  while (std::gcd(hop, pages) != 1) ++hop;

  co_yield barrier();
  co_yield write(x, first, bytes);
  for (unsigned iteration = 0; iteration <= shape.iterations; ++iteration) {
    if (iteration == 1) {  // what came before was to warm up
      co_yield barrier();
      co_yield begin_measuring();
    }
    co_yield read(x, first, bytes);
    for (const unsigned vector : {z, r, p}) co_yield write(vector, first, bytes);
    co_yield reduce(1);
    const unsigned steps = iteration == 0 ? warm_up_steps : shape.steps;
    for (unsigned step = 0; step <= steps; ++step) {
      // q = A p; in the end r = A z, to see how good z is.
      const bool last = step == steps;
      const unsigned from = last ? z : p, to = last ? r : q;
      if (shape.hints) co_yield prefetch(from, 0, all);
      for (std::uint64_t i = 0; i < pages; ++i) co_yield read(from, i * hop % pages * page_bytes, value_bytes);
      for (std::uint64_t row = mine.begin; row < mine.end; row += rows_at_once) {
        const std::uint64_t rows = std::min(rows_at_once, mine.end - row);
        co_yield write(to, row * value_bytes, rows * value_bytes);
        co_yield compute(static_cast<time_ns>(shape.element_ns * shape.row_elements * static_cast<double>(rows)));
      }
      co_yield reduce(1);
      if (last) break;
      for (const unsigned vector : {p, q}) co_yield read(vector, first, bytes);
      for (const unsigned vector : {z, r}) co_yield write(vector, first, bytes);
      co_yield reduce(1);
      if (shape.hints && bytes != 0) co_yield prefetch(p, first, bytes, true);
      co_yield read(r, first, bytes);
      co_yield write(p, first, bytes);
      co_yield barrier();
    }
    co_yield reduce(2);
    co_yield read(z, first, bytes);
    co_yield write(x, first, bytes);
  }
  co_yield barrier();
  co_yield end_measuring();
}

}  // namespace

pattern cg(const cg_shape& shape, unsigned nodes) {
  pattern what;
  what.regions.assign(5, {shape.rows * value_bytes, page_bytes});
  what.thread_of = [shape, nodes](unsigned node) {
    return worker(shape, apps::block_of_rows(node, nodes, shape.rows, value_bytes, 2));
  };
  return what;
}

}  // namespace quire::timed
