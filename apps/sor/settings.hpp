// The command line of the SOR programs, and what of a run does not depend on how it is parallel.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "common/report.hpp"

namespace sor {

struct settings {
  std::size_t size = 2048;  ///< rows and columns, border included
  int iterations = 20;
  int threads = 1;
  std::size_t unit_kib = 0;  ///< Quire only: sharing unit; 0: as long as a row, where it can be
  bool check = false;
  bool progress = false;
  bool json = false;
};

/// Reads the command line; prints and exits on --help and on errors.
[[nodiscard]] settings parse(int argc, char** argv, const std::string& variant);

/// The result of a serial run in plain memory.
[[nodiscard]] std::unique_ptr<double[]> serial_result(const settings& wanted);

/// Are the two n x n grids equal, bit by bit? Says on standard error where they first differ.
[[nodiscard]] bool same_bits(const double* computed, const double* expected, std::size_t n);

/// A report with everything filled in that follows from the settings.
[[nodiscard]] apps::report begin_report(const settings& wanted, const std::string& variant);

}  // namespace sor
