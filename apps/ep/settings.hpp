// SPDX-License-Identifier: BSD-3-Clause
// The command line of the EP programs, the classes of NPB, and what of a run does not depend on how it is parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/report.hpp"
#include "common/settings.hpp"
#include "ep/kernel.hpp"

namespace ep {

struct problem_class {
  const char* name;
  unsigned log2_pairs;
  double x, y;  ///< the official sums

  [[nodiscard]] std::uint64_t batches() const { return (std::uint64_t{1} << log2_pairs) / pairs_of_batch; }
};

struct settings : apps::run_settings {
  problem_class problem;

  /// Of the first of `workers`, which shows progress for all.
  [[nodiscard]] std::size_t shown_batches(int workers) const {
    return static_cast<std::size_t>(problem.batches() / static_cast<std::uint64_t>(workers));
  }
};

/// Reads the command line; prints and exits on --help and on errors.
[[nodiscard]] settings parse(int argc, char** argv, const std::string& variant);

/// A report with everything filled in that follows from the settings.
[[nodiscard]] apps::report begin_report(const settings& wanted, const std::string& variant);

/// Ends a run, on node 0: compares with the official sums, prints the report; the exit status.
[[nodiscard]] int finish(const settings& wanted, apps::report result, const tally& found);

}  // namespace ep
