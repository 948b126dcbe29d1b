// SPDX-License-Identifier: BSD-3-Clause
// Work that a record shows by its processor time only: of threads that ask Quire for nothing, such as those of a team
// that meet within their node, and what threads have done after they had asked for the last time. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "predict/replay.hpp"

namespace quire::tools::predict {

struct node_work {
  double seen_ns = 0;    ///< of threads, between what they have asked for
  double unseen_ns = 0;  ///< what else the process has used since it had met the others
  unsigned threads = 0;  ///< that have asked for something, but for a main() that has made others
};
/// Where a node has one thread, nothing is unseen: what else its process uses is Quire's. `threads`: it has so many, or
/// more.
[[nodiscard]] node_work work_of(const node_events& n, unsigned threads);

/// For so long a node takes at the least, if all its threads work all the time.
[[nodiscard]] double least_ns(const node_work& w);

/// Of a run that was cut at `cut_ns`, by the clock of the record: how long before that some thread went on to compute,
/// and asked for nothing any more. What it did then is in no record.
[[nodiscard]] double silent_ns(const std::vector<node_events>& job, std::uint64_t cut_ns);

}  // namespace quire::tools::predict
