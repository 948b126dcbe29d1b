// SPDX-License-Identifier: BSD-3-Clause
// The command line of the CG programs, the classes of NPB, and what of a run does not depend on how it is parallel.
#pragma once

#include <string>
#include <vector>

#include "cg/kernel.hpp"
#include "common/report.hpp"
#include "common/settings.hpp"

namespace cg {

struct problem_class {
  const char* name;
  int n;         ///< rows and columns
  int nonzeros;  ///< of a random vector
  int iterations;
  double shift;
  double zeta;  ///< the official result
};

struct settings : apps::run_settings {
  problem_class problem;     ///< its iterations may be other than those of its class
  bool official = true;      ///< there is an official result for it
  std::size_t unit_kib = 0;  ///< Quire only: sharing unit of the vectors
};

/// Reads the command line; prints and exits on --help and on errors.
[[nodiscard]] settings parse(int argc, char** argv, const std::string& variant);

/// The random vectors of the matrix; every process makes them for itself.
[[nodiscard]] std::vector<sparse_vector> random_vectors(const settings& wanted);

/// A report with everything filled in that follows from the settings.
[[nodiscard]] apps::report begin_report(const settings& wanted, const std::string& variant);

/// Ends a run, on node 0: compares with the official zeta, or with a serial run if there is none and it is wanted;
/// prints the report; the exit status.
[[nodiscard]] int finish(const settings& wanted, apps::report result, const eigenvalue& found);

}  // namespace cg
