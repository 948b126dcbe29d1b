// SPDX-License-Identifier: BSD-3-Clause
// As apps/ep: batches of numbers, and one sum of twelve values, an array of the team.
#include "sim/timed/patterns.hpp"

namespace quire::timed {

pattern ep(const ep_shape& shape, unsigned nodes) {
  pattern what;
  what.regions = {{}};
  what.thread_of = [shape, nodes](unsigned number) {
    const std::uint64_t batches = shape.batches * (number + 1) / nodes - shape.batches * number / nodes;
    return [shape, batches](node& me) {
      constexpr double pairs_of_batch = 1 << 16;
      const auto compute = [&] {
        me.compute(static_cast<time_ns>(static_cast<double>(batches) * pairs_of_batch * shape.pair_ns));
        me.sum(12);
      };
      run_crew(
          me, [] {}, compute);
    };
  };
  return what;
}

}  // namespace quire::timed
