// SPDX-License-Identifier: BSD-3-Clause
// The command line of the LU programs, and what of a run does not depend on how it is parallel.
#pragma once

#include <cstddef>
#include <string>

#include "common/report.hpp"
#include "common/settings.hpp"
#include "lu/kernel.hpp"

namespace lu {

struct settings : apps::run_settings {
  std::size_t size = 1024;  ///< rows, and columns: a multiple of the edge
  std::size_t edge = 32;    ///< rows of a block
};

/// Reads the command line; prints and exits on --help and on errors.
[[nodiscard]] settings parse(int argc, char** argv, const std::string& variant);

/// A report with everything filled in that follows from the settings.
[[nodiscard]] apps::report begin_report(const settings& wanted, const std::string& variant);

/// Ends a run, on node 0: compares with a serial run and multiplies the factors if wanted, prints the report; the exit
/// status.
[[nodiscard]] int finish(const settings& wanted, apps::report result, const matrix& factors);

}  // namespace lu
