// SPDX-License-Identifier: BSD-3-Clause
// Comparing results that must be equal to the last bit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace apps {

/// Grows with every bit of every value, and adds up over parts of an array in any order.
[[nodiscard]] inline std::uint64_t checksum(std::span<const float> values) {
  std::uint64_t sum = 0;
  for (const float value : values) sum += std::bit_cast<std::uint32_t>(value);
  return sum;
}
[[nodiscard]] inline std::uint64_t checksum(std::span<const double> values) {
  std::uint64_t sum = 0;
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    sum += (bits ^ (bits >> 32)) & 0xffffffff;
  }
  return sum;
}

/// Are two arrays of rows of `columns` values equal, bit by bit? Says on standard error where they first differ.
[[nodiscard]] bool same_bits(const std::string& program, std::span<const double> computed,
                             std::span<const double> expected, std::size_t columns);
[[nodiscard]] bool same_bits(const std::string& program, std::span<const float> computed,
                             std::span<const float> expected, std::size_t columns);

}  // namespace apps
