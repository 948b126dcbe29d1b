// SPDX-License-Identifier: BSD-3-Clause
// Sentences about a job that waits: for whom each thread waits, as far as the nodes' records tell, and who waits for
// each other in a circle. Pure. Called by the launcher, which has heard all nodes, and by a node that is asked alone,
// with its own records.
#pragma once

#include <string>
#include <vector>

#include "waits/record.hpp"

namespace quire::waits {

struct node_report {
  std::string name;   ///< "node 1 (pid 4711)"; empty: nothing is said of it
  std::string state;  ///< why there are no records: "has ended"; empty: there are
  bool dead = false;  ///< nobody waits for it
  std::vector<record> records;
};

/// A line for each circle of locks, then one for each wait, in the order of the nodes, and one for each node that says
/// nothing. `nodes`: by number; `all`: whether they are the whole job. At most `most_lines`, the last of which says so.
[[nodiscard]] std::vector<std::string> describe(const std::vector<node_report>& nodes, bool all,
                                                std::size_t most_lines = 400);

}  // namespace quire::waits
