// SPDX-License-Identifier: BSD-3-Clause
// What `quire top` shows of a job: rates from two views of it, a table that fits a terminal, JSON for scripts. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/launcher/viewers.hpp"

namespace quire::tools::top {

/// What a node did between two views, a second.
struct rates {
  double cores = 0;                                                    ///< processor time
  double faults = 0, fault_wait = 0, lock_wait = 0, barrier_wait = 0;  ///< waits: seconds of threads that ended
  double sent_bytes = 0, received_bytes = 0, messages = 0;
};
struct node_view {
  std::string host, state;
  std::string counters;         ///< as they came; empty: not known
  std::uint64_t waiting = 0;    ///< threads that wait now
  std::optional<rates> second;  ///< nothing until there are two views of it
};
struct picture {
  std::string command;
  double seconds = 0;
  std::vector<node_view> nodes;
};

/// So many characters at most, and nothing that a terminal would obey: a question mark for each that is not of ASCII,
/// or not to be seen.
[[nodiscard]] std::string for_terminal(const std::string& text, std::size_t most);
/// `before` may be of other nodes, or none.
[[nodiscard]] picture compare(const bootstrap::launcher::job_view& before, const bootstrap::launcher::job_view& now);

struct screen {
  std::size_t rows = 24, columns = 80;
  std::size_t first = 0;  ///< node of the first row: where somebody has scrolled to
};
/// Lines that fit, without control characters of the job's own. `title`: the first words.
[[nodiscard]] std::vector<std::string> lines(const picture& of, const std::string& title, const screen& on);
/// One object, on one line.
[[nodiscard]] std::string json(const picture& of, int pid);

}  // namespace quire::tools::top
