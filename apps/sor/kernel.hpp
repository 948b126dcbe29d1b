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

/// Of doubles, or of floats.
template <class Cell>
struct grid_of {
  Cell* cells = nullptr;  ///< all, one row after the other
  std::size_t rows = 0, columns = 0;
  Cell* const* apart = nullptr;  ///< if any: where each row is, for who does not want what lies beside it

  [[nodiscard]] Cell* row(std::size_t number) const {
    return apart != nullptr ? apart[number] : cells + number * columns;
  }
  [[nodiscard]] std::size_t size() const { return rows * columns; }
};
using grid = grid_of<double>;

template <class Cell>
inline constexpr Cell omega = 1.5;

/// The start: a hot upper edge, a cold rest of the border, and noise inside, so that every cell takes part from the
/// first sweep.
template <class Cell>
[[nodiscard]] inline Cell initial_value(const grid_of<Cell>& g, std::size_t row, std::size_t column) {
  if (row == 0) return 100;
  if (row == g.rows - 1 || column == 0 || column == g.columns - 1) return 0;
  std::uint64_t hash = (row * g.columns + column) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 32;
  return static_cast<Cell>(hash & 0xffff) / 65536;
}

template <class Cell>
inline void initialise_rows(const grid_of<Cell>& g, apps::row_range rows) {
  for (std::size_t i = rows.begin; i < rows.end; ++i)
    for (std::size_t j = 0; j < g.columns; ++j) g.row(i)[j] = initial_value(g, i, j);
}

/// Every second cell of one row, from column `first` on.
template <class Cell>
inline void relax_row(Cell* __restrict row, const Cell* __restrict above, const Cell* __restrict below,
                      std::size_t columns, std::size_t first) {
  constexpr Cell factor = omega<Cell> / 4;
  for (std::size_t j = first; j < columns - 1; j += 2)
    row[j] += factor * (above[j] + below[j] + row[j - 1] + row[j + 1] - 4 * row[j]);
}

/// What a block can say of the rows at its border before it comes to them; nothing where memory is just memory.
struct no_hints {
  void at_the_start() const {}
  void half_way() const {}
};

/// Rows without those of the border, which stay.
[[nodiscard]] constexpr apps::row_range inner_rows(std::size_t all, apps::row_range rows) {
  const std::size_t end = rows.end < all - 1 ? rows.end : all - 1, begin = rows.begin > 1 ? rows.begin : 1;
  return {begin < end ? begin : end, end};
}

/// A half sweep over rows [from, to), upwards. None is of the border.
template <class Cell>
inline void relax_in_order(const grid_of<Cell>& g, std::size_t from, std::size_t to, unsigned colour) {
  for (std::size_t i = from; i < to; ++i)
    relax_row(g.row(i), g.row(i - 1), g.row(i + 1), g.columns, 1 + (i + 1 + colour) % 2);
}

/// One half sweep over some rows of the grid: upwards, but for the first row, which has its turn after a quarter of the
/// others. So both rows at the border can come from the neighbours while the rest is computed, and all blocks
/// touch the rows that they share at different times.
template <class Cell, class Hints = no_hints>
inline void relax_rows(const grid_of<Cell>& g, apps::row_range rows, unsigned colour, const Hints& hints = {}) {
  const auto [begin, end] = inner_rows(g.rows, rows);
  if (begin >= end) return;
  const std::size_t quarter = begin + (end - begin + 3) / 4, half = begin + (end - begin + 1) / 2;
  hints.at_the_start();
  relax_in_order(g, begin + 1, quarter, colour);
  relax_in_order(g, begin, begin + 1, colour);
  relax_in_order(g, quarter, half, colour);
  hints.half_way();
  relax_in_order(g, half, end, colour);
}

}  // namespace sor
