// SPDX-License-Identifier: BSD-3-Clause
// Red-black successive over-relaxation of the Laplace equation on a grid: the code that all programs share (sor,
// sor_openmp, sor_serial), so that their times differ by the memory and the threads only.
//
// A cell is red or black by the parity of row + column. Its new value depends on its own and those of its four
// neighbours, which have the other colour: within a half sweep the order of updates does not matter, and every correct
// parallel run gives the very bits of the serial one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/partition.hpp"

namespace sor {

inline constexpr double omega = 1.5;

struct grid {
  double* cells = nullptr;  ///< all, one row after the other
  std::size_t rows = 0, columns = 0;
  double* const* apart = nullptr;  ///< if any: where each row is, for who does not want what lies beside it

  [[nodiscard]] double* row(std::size_t number) const { return apart != nullptr ? apart[number] : cells + number * columns; }
  [[nodiscard]] std::size_t size() const { return rows * columns; }
};

/// The start: a hot upper edge, a cold rest of the border, and noise inside, so that every cell takes part from the
/// first sweep.
[[nodiscard]] inline double initial_value(const grid& g, std::size_t row, std::size_t column) {
  if (row == 0) return 100.0;
  if (row == g.rows - 1 || column == 0 || column == g.columns - 1) return 0.0;
  std::uint64_t hash = (row * g.columns + column) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 32;
  return static_cast<double>(hash & 0xffff) / 65536.0;
}

inline void initialise_rows(const grid& g, apps::row_range rows) {
  for (std::size_t i = rows.begin; i < rows.end; ++i)
    for (std::size_t j = 0; j < g.columns; ++j) g.row(i)[j] = initial_value(g, i, j);
}

/// Every second cell of one row, from column `first` on.
inline void relax_row(double* __restrict row, const double* __restrict above, const double* __restrict below,
                      std::size_t columns, std::size_t first) {
  constexpr double factor = omega / 4;
  for (std::size_t j = first; j < columns - 1; j += 2)
    row[j] += factor * (above[j] + below[j] + row[j - 1] + row[j + 1] - 4 * row[j]);
}

/// What a block can say of the rows at its border before it comes to them; nothing where memory is just memory.
struct no_hints {
  void at_the_start() const {}
  void half_way() const {}
};

/// One half sweep over some rows of the grid: upwards, but for the first row, which has its turn after a quarter of the
/// others. So both rows at the border can come from the neighbours while the rest is computed, and all blocks
/// touch the rows that they share at different times.
template <class Hints = no_hints>
inline void relax_rows(const grid& g, apps::row_range rows, unsigned colour, const Hints& hints = {}) {
  const std::size_t end = rows.end < g.rows - 1 ? rows.end : g.rows - 1;
  const std::size_t begin = rows.begin > 1 ? rows.begin : 1;
  if (begin >= end) return;
  const auto relax = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) relax_row(g.row(i), g.row(i - 1), g.row(i + 1), g.columns, 1 + (i + 1 + colour) % 2);
  };
  const std::size_t quarter = begin + (end - begin + 3) / 4, half = begin + (end - begin + 1) / 2;
  hints.at_the_start();
  relax(begin + 1, quarter);
  relax(begin, begin + 1);
  relax(quarter, half);
  hints.half_way();
  relax(half, end);
}

}  // namespace sor
