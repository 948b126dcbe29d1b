// SPDX-License-Identifier: BSD-3-Clause
// The command line of the WATER programs, and what of a run does not depend on how it is parallel.
#pragma once

#include <cstddef>
#include <string>

#include "common/report.hpp"
#include "common/settings.hpp"
#include "water/kernel.hpp"

namespace water {

struct settings : apps::run_settings {
  std::size_t molecules = 512;
  int steps = 10;
  apps::sharing sharing;  ///< Quire only: of molecules
};

/// Reads the command line; prints and exits on --help and on errors.
[[nodiscard]] settings parse(int argc, char** argv, const std::string& variant);

/// A report with everything filled in that follows from the settings.
[[nodiscard]] apps::report begin_report(const settings& wanted, const std::string& variant);

/// Ends a run, on node 0: compares with a serial run and looks at energy and momentum if wanted, prints the report; the
/// exit status.
[[nodiscard]] int finish(const settings& wanted, apps::report result, const outcome& found);

}  // namespace water
