// SPDX-License-Identifier: BSD-3-Clause
// As apps/ep: batches of numbers, and one sum of twelve values. The application adds them as an array of a group; here they are two reductions.
#include "sim/timed/patterns.hpp"

namespace quire::timed {

pattern ep(const ep_shape& shape, unsigned nodes) {
  pattern what;
  what.regions = {{}};
  what.thread_of = [shape, nodes](unsigned number) {
    const std::uint64_t batches = shape.batches * (number + 1) / nodes - shape.batches * number / nodes;
    return [shape, batches](node& me) {
      constexpr double pairs_of_batch = 1 << 16;
      me.barrier();
      me.barrier();
      me.begin_measuring();
      me.compute(static_cast<time_ns>(static_cast<double>(batches) * pairs_of_batch * shape.pair_ns));
      me.reduce(8);
      me.reduce(4);
      me.barrier();
      me.end_measuring();
    };
  };
  return what;
}

}  // namespace quire::timed
