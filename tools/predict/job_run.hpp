// SPDX-License-Identifier: BSD-3-Clause
// Runs a program once on this machine, as so many nodes, with a record of what happens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "predict/choice.hpp"
#include "predict/network.hpp"
#include "predict/replay.hpp"

namespace quire::tools::predict {

struct run_wishes {
  std::vector<std::string> command{}, run_options{};
  unsigned nodes = 1, threads_a_node = 1, nodes_a_host = 1;
  network net{};                      ///< for whose latency messages are held back
  double seconds = 0;                 ///< 0: no limit
  bool places_threads = false;        ///< of the program, for `explains`
  std::vector<std::string> closed{};  ///< options that the user has set, for `explains`
  bool shows = false;                 ///< what the program writes
  bool explains = false;              ///< with a record for the report, and without the other one
};
struct run_result {
  std::vector<node_events> events{};
  double seconds = 0;  ///< of the run here
  bool was_cut = false;
  std::uint64_t cut_ns = 0;  ///< when, about, by the clock of the record
  // Where `explains` was wished:
  std::vector<std::string> reasons{};
  std::vector<candidate> worth_a_try{};
};

/// A word of a command line, in which {nodes} and {threads} stand for numbers.
[[nodiscard]] std::string with_numbers(std::string word, unsigned nodes, unsigned threads_a_node);

/// Nothing, and a sentence in `why`, and its exit status. What the run leaves is gone when this returns.
[[nodiscard]] std::optional<run_result> run_recorded(const run_wishes& asked, std::string& why, int& status);

}  // namespace quire::tools::predict
