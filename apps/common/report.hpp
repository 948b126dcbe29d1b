// SPDX-License-Identifier: BSD-3-Clause
// What every run of an application reports, as a line for people or as JSON for scripts (tools/demo.py, the
// benchmarks).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace apps {

/// What sharing cost, summed over all nodes; plain programs have none.
struct traffic {
  std::int64_t read_faults = 0;
  std::int64_t write_faults = 0;  ///< upgrades included
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

struct report {
  std::string program;
  std::string variant;  ///< "serial", "openmp" or "quire"
  std::string problem;  ///< for people: what was computed
  int nodes = 1;
  int threads = 1;                                     ///< per node
  double set_up_s = 0;                                 ///< initialisation of the data, slowest node
  double time_s = 0;                                   ///< the computation, slowest node
  std::vector<std::pair<std::string, double>> values;  ///< what was found, by name
  std::optional<std::uint64_t> checksum;               ///< of results that are equal to the last bit in all variants
  std::optional<bool> matches;                         ///< equal to the reference, if that was checked
  std::string reference = "the serial run";
  std::optional<traffic> shared;
};

/// Prints the report on standard output and gives the exit status: 1 if a check failed.
int print(const report& result, bool as_json);

}  // namespace apps
