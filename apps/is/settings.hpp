// SPDX-License-Identifier: BSD-3-Clause
// The command line of the IS programs, and what of a run does not depend on how it is parallel.
#pragma once

#include <span>
#include <string>

#include "common/report.hpp"
#include "common/settings.hpp"
#include "is/kernel.hpp"

namespace is {

struct settings : apps::run_settings {
  problem_class problem;
  apps::sharing sharing;  ///< Quire only: of pieces of the counts

  static constexpr std::size_t bytes_of_piece = shared_counts::piece * sizeof(count);
  [[nodiscard]] std::size_t minipage_bytes() const { return sharing.chunk * bytes_of_piece; }  ///< 0: none
};

/// Reads the command line; prints and exits on --help and on errors.
[[nodiscard]] settings parse(int argc, char** argv, const std::string& variant);

/// A report with everything filled in that follows from the settings.
[[nodiscard]] apps::report begin_report(const settings& wanted, const std::string& variant);

/// Ends a run, on node 0: compares with the official ranks, and with a serial run if wanted, prints the report; the
/// exit status. `wrong`: how many ranks of test keys are not the official ones.
[[nodiscard]] int finish(const settings& wanted, apps::report result, std::span<const count> counts, int wrong);

}  // namespace is
