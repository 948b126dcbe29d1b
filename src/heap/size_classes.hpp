// SPDX-License-Identifier: BSD-3-Clause
// Sizes of small objects: 16, 32, ... 128, then eight classes a doubling (144, 160, ... 256, 288, ... 3840), so that at
// most one ninth of an object above 128 bytes is waste. Larger objects take whole pages (heap.hpp). Pure arithmetic.
#pragma once

#include <bit>
#include <cstdint>

namespace quire::heap {

inline constexpr std::uint64_t smallest_object_bytes = 16;
inline constexpr std::uint64_t largest_small_bytes = 3840;
inline constexpr unsigned size_class_count = 47;

/// The smallest class that holds `bytes`, which is 1 ... largest_small_bytes.
[[nodiscard]] constexpr unsigned size_class_of(std::uint64_t bytes) noexcept {
  if (bytes <= 128) return static_cast<unsigned>((bytes + 15) / 16 - 1);
  const unsigned doubling = static_cast<unsigned>(std::bit_width(bytes - 1)) - 8;  // 0: 129 to 256 bytes
  const auto eighth = static_cast<unsigned>((bytes - 1) >> (doubling + 4)) - 8;
  return 8 + doubling * 8 + eighth;
}

[[nodiscard]] constexpr std::uint64_t size_class_bytes(unsigned size_class) noexcept {
  if (size_class < 8) return (size_class + 1) * smallest_object_bytes;
  const unsigned doubling = (size_class - 8) / 8, eighth = (size_class - 8) % 8;
  return std::uint64_t{eighth + 9} << (doubling + 4);
}

static_assert(size_class_of(largest_small_bytes) == size_class_count - 1);
static_assert(size_class_bytes(size_class_count - 1) == largest_small_bytes);

}  // namespace quire::heap
