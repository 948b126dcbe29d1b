// Red-black successive over-relaxation of the Laplace equation on a square grid: the code that all programs share (sor,
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

/// The start: a hot upper edge, a cold rest of the border, and noise inside, so that every cell takes part from the
/// first sweep.
[[nodiscard]] inline double initial_value(std::size_t row, std::size_t column, std::size_t n) {
  if (row == 0) return 100.0;
  if (row == n - 1 || column == 0 || column == n - 1) return 0.0;
  std::uint64_t hash = (row * n + column) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 32;
  return static_cast<double>(hash & 0xffff) / 65536.0;
}

inline void initialise_rows(double* cells, std::size_t n, apps::row_range rows) {
  for (std::size_t i = rows.begin; i < rows.end; ++i)
    for (std::size_t j = 0; j < n; ++j) cells[i * n + j] = initial_value(i, j, n);
}

/// Every second cell of one row, from column `first` on.
inline void relax_row(double* __restrict row, const double* __restrict above, const double* __restrict below,
                      std::size_t n, std::size_t first) {
  constexpr double factor = omega / 4;
  for (std::size_t j = first; j < n - 1; j += 2)
    row[j] += factor * (above[j] + below[j] + row[j - 1] + row[j + 1] - 4 * row[j]);
}

/// One half sweep over some rows of the n x n grid, upwards. Upwards in all blocks at once means that a block is done
/// with its first row when the block before comes to its last one: neighbours seldom touch the rows at their border at
/// the same time.
inline void relax_rows(double* cells, std::size_t n, apps::row_range rows, unsigned colour) {
  const std::size_t end = rows.end < n - 1 ? rows.end : n - 1;
  for (std::size_t i = rows.begin > 1 ? rows.begin : 1; i < end; ++i) {
    double* row = cells + i * n;
    relax_row(row, row - n, row + n, n, 1 + (i + 1 + colour) % 2);
  }
}

}  // namespace sor
