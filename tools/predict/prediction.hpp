// SPDX-License-Identifier: BSD-3-Clause
// What is told of one number of nodes. Pure.
#pragma once

#include "predict/replay.hpp"

namespace quire::tools::predict {

struct prediction {
  unsigned nodes = 1;
  outcome least{}, likely{}, most{};
  double run_seconds = 0;  ///< of the run here
  bool was_cut = false;
  double silent_ns = 0;  ///< before it was cut: of a thread that computed, of which the record knows nothing
};

/// The range has, too, what locks may change that another thread would get first.
void widen(prediction& p);

/// How much faster than the first number of nodes, where it takes `ns`. Where runs were cut they have done different
/// work: what counts is how much of it in a second.
[[nodiscard]] double gain_of(const prediction& first, double ns, const prediction& p);

/// Of the time of all threads, in percent.
struct shares {
  double work = 0, faults = 0, barriers = 0, locks = 0, other = 0;
};
[[nodiscard]] shares shares_of(const outcome& o);

}  // namespace quire::tools::predict
