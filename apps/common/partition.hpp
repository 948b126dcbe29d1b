// SPDX-License-Identifier: BSD-3-Clause
// How rows are divided so that nodes share as few pages as they can: a page with rows of two nodes moves back and forth
// between them (false sharing), whatever the protocol does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace apps {

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t most_minipage_bytes = page_bytes / 2;

/// Rows [begin, end).
struct row_range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The smallest number of rows that is a whole number of pages.
[[nodiscard]] constexpr std::size_t rows_of_whole_pages(std::size_t row_bytes) {
  return page_bytes / std::gcd(page_bytes, row_bytes);
}

/// The part-th of `parts` blocks of rows, about equal in size. Blocks begin on a page where that costs little balance:
/// where a block has `least` times as many rows, or more, as fill whole pages.
[[nodiscard]] constexpr row_range block_of_rows(std::size_t part, std::size_t parts, std::size_t rows,
                                                std::size_t row_bytes, std::size_t least = 8) {
  std::size_t grain = rows_of_whole_pages(row_bytes);
  if (rows / grain < parts * least) grain = 1;
  const auto bound = [&](std::size_t p) { return p == parts ? rows : rows / grain * p / parts * grain; };
  return {bound(part), bound(part + 1)};
}

/// Rows of a tile for dynamic distribution: whole pages, if that leaves enough tiles for balance; else `wanted` rows.
[[nodiscard]] constexpr std::size_t rows_of_tile(std::size_t wanted, std::size_t rows, std::size_t row_bytes,
                                                 std::size_t workers) {
  const std::size_t grain = rows_of_whole_pages(row_bytes);
  const std::size_t whole = (std::max<std::size_t>(wanted, 1) + grain - 1) / grain * grain;
  return rows / whole >= workers * 8 ? whole : std::max<std::size_t>(wanted, 1);
}

}  // namespace apps
