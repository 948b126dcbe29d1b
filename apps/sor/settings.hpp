// SPDX-License-Identifier: BSD-3-Clause
// The command line of the SOR programs, and what of a run does not depend on how it is parallel.
#pragma once

#include <cstddef>
#include <string>

#include "common/report.hpp"
#include "common/settings.hpp"
#include "sor/kernel.hpp"

namespace sor {

struct settings : apps::run_settings {
  std::size_t size = 2048;  ///< rows, border included
  std::size_t columns = 0;  ///< the same; 0: as many as rows
  int iterations = 20;
  std::string cell = "double";  ///< or "float"
  std::string checkpoint;       ///< Quire only: directory of checkpoints; empty: none
  int every = 0;                ///< iterations between them; 0: a tenth of all
  apps::sharing sharing;        ///< Quire only: of rows
  std::size_t unit_kib = 0;     ///< Quire only: sharing unit; 0: as long as a row, where it can be

  [[nodiscard]] std::size_t row_bytes() const { return columns * (cell == "float" ? sizeof(float) : sizeof(double)); }
  [[nodiscard]] std::size_t minipage_bytes() const { return sharing.chunk * row_bytes(); }  ///< 0: none
  template <class Cell>
  [[nodiscard]] grid_of<Cell> of(Cell* cells, Cell* const* apart = nullptr) const {
    return {cells, size, columns, apart};
  }
};

/// Reads the command line; prints and exits on --help and on errors.
[[nodiscard]] settings parse(int argc, char** argv, const std::string& variant);

/// f(Cell{}) for the type of the cells.
template <class F>
decltype(auto) with_cell(const settings& wanted, F&& f) {
  return wanted.cell == "float" ? f(float{}) : f(double{});
}

/// Is the grid that of a serial run, bit by bit? Says on standard error where it first differs.
template <class Cell>
[[nodiscard]] bool equals_serial(const settings& wanted, const grid_of<Cell>& found);

/// A report with everything filled in that follows from the settings.
[[nodiscard]] apps::report begin_report(const settings& wanted, const std::string& variant);

}  // namespace sor
