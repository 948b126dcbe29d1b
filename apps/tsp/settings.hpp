// SPDX-License-Identifier: BSD-3-Clause
// The command line of the TSP programs, and what of a run does not depend on how it is parallel.
#pragma once

#include <cstddef>
#include <string>

#include "common/report.hpp"
#include "common/settings.hpp"
#include "tsp/kernel.hpp"

namespace tsp {

struct settings : apps::run_settings {
  std::size_t size = 19;    ///< cities
  std::size_t alone = 12;   ///< a worker completes tours with so many cities left
  std::size_t pool = 9000;  ///< tours
  unsigned seed = 1;
  apps::sharing sharing;  ///< Quire only: of tours
};

/// Reads the command line; prints and exits on --help and on errors.
[[nodiscard]] settings parse(int argc, char** argv, const std::string& variant);

/// A report with everything filled in that follows from the settings.
[[nodiscard]] apps::report begin_report(const settings& wanted, const std::string& variant);

/// Ends a run, on node 0: compares with a serial search if wanted, prints the report; the exit status.
[[nodiscard]] int finish(const settings& wanted, apps::report result, const best_tour& best, const outcome& found);

}  // namespace tsp
