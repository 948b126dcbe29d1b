// SPDX-License-Identifier: BSD-3-Clause
// Where the units of a region lie, and how large they are: the only place that knows. A value, safe in a signal handler.
//
// This layout is uniform: units of one size, a power of two, one behind the other. What uses it takes units by their numbers only: `count`
// units from `first` on lie one behind the other, and how many bytes they have depends on which they are. Another layout (units of several
// sizes, several to a page) is another body of this class.
#pragma once

#include <algorithm>
#include <cstdint>

namespace quire::core {

/// Units `first` to `end`, without `end`.
struct unit_range {
  std::uint64_t first = 0, end = 0;
  [[nodiscard]] std::uint64_t count() const noexcept { return end - first; }
};

class unit_layout {
 public:
  unit_layout() = default;
  /// Of a region of `bytes`, a multiple of `unit_bytes`.
  [[nodiscard]] static unit_layout uniform(std::uint64_t bytes, std::uint64_t unit_bytes) noexcept {
    return unit_layout(bytes, static_cast<unsigned>(__builtin_ctzll(unit_bytes)));
  }

  [[nodiscard]] std::uint64_t units() const noexcept { return bytes_ >> shift_; }
  /// The unit of a byte of the region.
  [[nodiscard]] std::uint64_t unit_of(std::uint64_t offset) const noexcept { return offset >> shift_; }
  /// Where a unit begins.
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t unit) const noexcept { return unit << shift_; }
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t /*unit*/) const noexcept { return std::uint64_t{1} << shift_; }
  /// Of several.
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t /*first*/, std::uint64_t count) const noexcept { return count << shift_; }
  /// Of the largest unit.
  [[nodiscard]] std::uint64_t most_bytes() const noexcept { return std::uint64_t{1} << shift_; }
  /// Units that have a byte of a range of at least one byte.
  [[nodiscard]] unit_range under(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    return {unit_of(offset), unit_of(offset + bytes - 1) + 1};
  }
  /// As many units from `first` on as have at most so many bytes together; one at least.
  [[nodiscard]] std::uint64_t fitting(std::uint64_t /*first*/, std::uint64_t bytes) const noexcept {
    return std::max<std::uint64_t>(bytes >> shift_, 1);
  }

 private:
  unit_layout(std::uint64_t bytes, unsigned shift) noexcept : bytes_(bytes), shift_(shift) {}
  std::uint64_t bytes_ = 0;
  unsigned shift_ = 12;
};

}  // namespace quire::core
