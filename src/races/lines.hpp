// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of comparing pages (events.hpp): which bytes of lines differ from what they were, and a hash of the
// content now and before. The same results from each variant; compiled for their machine by target attributes, so that
// the library runs anywhere. Pure; any thread. No pointer needs an alignment.
//
// The hash has eight lanes of 64 bits, one for each word of a line. A word, changed by a key of its place, gives the
// product of its halves to its own lane, and itself to the neighbour's (as XXH3 does, Y. Collet).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quire::races {

/// A bit for each byte that is not 0, the lowest first.
constexpr std::uint64_t bytes_of(std::uint64_t word) noexcept {
  constexpr std::uint64_t low = 0x7f7f'7f7f'7f7f'7f7f;
  const std::uint64_t tops = (((word & low) + low) | word) & ~low;
  return ((tops >> 7) * 0x0102'0408'1020'4080) >> 56;
}
static_assert(bytes_of(0) == 0 && bytes_of(~std::uint64_t{0}) == 0xff && bytes_of(0x0100'0000'0000'8000) == 0x82);

using line_lanes = std::array<std::uint64_t, 8>;

enum class line_variant : std::uint8_t { portable, avx2, avx512 };

/// Whether this machine has it.
[[nodiscard]] bool has(line_variant v) noexcept;

/// Of `lines` lines, 64 at most. masks[i]: a bit for each byte that differs. The lanes go on from what they are. Each
/// byte is loaded once.
void compare_lines(line_variant v, const std::byte* now, const std::byte* before, std::size_t lines,
                   std::uint64_t* masks, line_lanes& is, line_lanes& was) noexcept;
/// The same by the best one.
void compare_lines(const std::byte* now, const std::byte* before, std::size_t lines, std::uint64_t* masks,
                   line_lanes& is, line_lanes& was) noexcept;

}  // namespace quire::races
