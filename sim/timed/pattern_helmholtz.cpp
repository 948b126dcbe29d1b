// SPDX-License-Identifier: BSD-3-Clause
// As apps/helmholtz: each node owns rows of three grids, and reads a row of each neighbour.
#include <algorithm>

#include "common/partition.hpp"
#include "sim/timed/patterns.hpp"

namespace quire::timed {
namespace {

constexpr std::uint64_t cell_bytes = sizeof(double);
enum grid : unsigned { u, old, f };

class worker {
 public:
  worker(node& me, const helmholtz_shape& shape, apps::row_range mine)
      : me_(me),
        shape_(shape),
        mine_(mine),
        inside_{std::max<std::uint64_t>(mine.begin, 1), std::min(mine.end, shape.rows - 1)} {}

  void work() {
    const auto set_up = [&] {
      for (const unsigned grid : {u, old, f}) me_.write(grid, at(mine_.begin), at(mine_.end) - at(mine_.begin));
    };
    const auto compute = [&] {
      for (unsigned i = 0; i < shape_.iterations; ++i) iterate();
    };
    run_crew(me_, set_up, compute);
  }

 private:
  [[nodiscard]] std::uint64_t at(std::uint64_t row) const { return row * shape_.columns * cell_bytes; }
  [[nodiscard]] time_ns for_row(double value_ns) const {
    return static_cast<time_ns>(value_ns * static_cast<double>(shape_.columns));
  }
  void hint(std::uint64_t row, access want) {
    if (shape_.hints) me_.prefetch(old, at(row), at(1), want);
  }

  void iterate() {
    for (std::uint64_t i = mine_.begin; i < mine_.end; ++i)
      me_.work(for_row(shape_.copy_ns), {{u, at(i), at(1)}, {old, at(i), at(1), access::write}});
    me_.wait();
    if (inside_.begin < inside_.end) relax();
    me_.sum(1);
    if (mine_.begin == mine_.end) return;
    hint(mine_.begin, access::write);
    hint(mine_.end - 1, access::write);
  }
  /// The rows that need the neighbours' come last.
  void relax() {
    hint(inside_.begin - 1, access::read);
    hint(inside_.end, access::read);
    const std::uint64_t last = inside_.end - 1;
    for (std::uint64_t i = inside_.begin + 1; i < last; ++i) relax(i);
    relax(inside_.begin);
    if (last > inside_.begin) relax(last);
  }
  void relax(std::uint64_t row) {
    me_.work(for_row(shape_.point_ns), {{old, at(row), at(1)},
                                        {old, at(row - 1), at(1)},
                                        {old, at(row + 1), at(1)},
                                        {f, at(row), at(1)},
                                        {u, at(row) + cell_bytes, at(1) - 2 * cell_bytes, access::write}});
  }

  node& me_;
  const helmholtz_shape& shape_;
  apps::row_range mine_, inside_;
};

}  // namespace

pattern helmholtz(const helmholtz_shape& shape, unsigned nodes) {
  pattern what;
  const std::uint64_t row_bytes = shape.columns * cell_bytes;
  what.regions.assign(3, {.bytes = shape.rows * row_bytes});
  what.thread_of = [shape, nodes, row_bytes](unsigned number) {
    return [shape, mine = apps::block_of_rows(number, nodes, shape.rows, row_bytes)](node& me) {
      worker(me, shape, mine).work();
    };
  };
  return what;
}

}  // namespace quire::timed
