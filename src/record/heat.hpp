// SPDX-License-Identifier: BSD-3-Clause
// Where in memory a node faulted, and when: bins of address and time. Only addresses that were used have a row, which
// stands for a piece of memory of a power of two. The memory is fixed: where there are no rows left, two neighbouring
// pieces become one; where there are no columns left, two of them do. Sums stay exact, up to what a bin can hold. All
// bytes zero is the empty map. Pure; one thread at a time; fault context too: no heap, no lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace quire::record {

template <std::size_t Rows, std::size_t Columns>
class heat_map {
 public:
  static constexpr unsigned least_piece_shift = 12;   ///< a page
  static constexpr unsigned least_column_shift = 20;  ///< about a millisecond
  static_assert(Columns % 2 == 0);

  /// `count` faults at an address, so long after the record began.
  void add(std::uint64_t address, std::uint64_t ns, std::uint32_t count) noexcept {
    while (ns >> column_shift() >= Columns) halve_time();
    std::size_t row = find(address >> piece_shift());
    while (row == none) {
      halve_addresses();
      row = find(address >> piece_shift());
    }
    raise(cells_[row][ns >> column_shift()], count);
  }

  [[nodiscard]] unsigned piece_shift() const noexcept { return least_piece_shift + more_piece_; }
  [[nodiscard]] unsigned column_shift() const noexcept { return least_column_shift + more_column_; }
  [[nodiscard]] std::size_t rows() const noexcept { return used_; }
  /// First address of a row; rows stand in the order of their first use.
  [[nodiscard]] std::uint64_t address(std::size_t row) const noexcept { return pieces_[row] << piece_shift(); }
  [[nodiscard]] const std::array<std::uint32_t, Columns>& row(std::size_t at) const noexcept { return cells_[at]; }

 private:
  static constexpr std::size_t none = ~std::size_t{0}, buckets = 2 * Rows;

  static void raise(std::uint32_t& cell, std::uint32_t by) noexcept {
    cell += std::min(by, std::numeric_limits<std::uint32_t>::max() - cell);
  }
  /// The row of a piece, a new one if it has none; `none` if there is no room.
  std::size_t find(std::uint64_t piece) noexcept {
    for (std::size_t at = (piece * 0x9e3779b97f4a7c15u >> 32) % buckets;; at = (at + 1) % buckets) {
      if (index_[at] == 0) {
        if (used_ == Rows) return none;
        pieces_[used_] = piece;
        index_[at] = static_cast<std::uint16_t>(++used_);
      }
      if (pieces_[index_[at] - 1] == piece) return index_[at] - std::size_t{1};
    }
  }
  void halve_addresses() noexcept {
    const std::size_t before = used_;
    index_.fill(0);
    used_ = 0;
    ++more_piece_;
    for (std::size_t from = 0; from < before; ++from) {
      const std::size_t to = find(pieces_[from] >> 1);  // never behind `from`
      if (to == from) continue;
      for (std::size_t i = 0; i < Columns; ++i) raise(cells_[to][i], cells_[from][i]);
      cells_[from].fill(0);
    }
  }
  void halve_time() noexcept {
    ++more_column_;
    for (std::size_t r = 0; r < used_; ++r) {
      auto& cells = cells_[r];
      for (std::size_t i = 0; i < Columns / 2; ++i) {
        const std::uint32_t second = cells[2 * i + 1];
        cells[i] = cells[2 * i];
        raise(cells[i], second);
      }
      std::fill(cells.begin() + Columns / 2, cells.end(), 0u);
    }
  }

  unsigned more_piece_, more_column_;
  std::size_t used_;
  std::array<std::uint64_t, Rows> pieces_;
  std::array<std::uint16_t, buckets> index_;  ///< a row, from 1 on
  std::array<std::array<std::uint32_t, Columns>, Rows> cells_;
};

inline constexpr std::size_t heat_rows = 512, heat_columns = 512;
using heat = heat_map<heat_rows, heat_columns>;

}  // namespace quire::record
