// SPDX-License-Identifier: BSD-3-Clause
// The parts of a unit by which accesses are told apart. A page has 64 lines of 64 bytes, each of 8 words of 8 bytes;
// larger units have as many lines and words, which are larger. Pure; any thread, fault context too.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace quire::sharing {

inline constexpr unsigned lines = 64, words_a_line = 8, words = lines * words_a_line;
using line_mask = std::bitset<lines>;
using word_mask = std::bitset<words>;

/// Of a unit of so many bytes, a multiple of 4096.
[[nodiscard]] constexpr std::uint64_t line_bytes(std::uint64_t unit_bytes) noexcept {
  return std::max<std::uint64_t>(64, (unit_bytes + lines - 1) / lines);
}
[[nodiscard]] constexpr std::uint64_t word_bytes(std::uint64_t unit_bytes) noexcept {
  return line_bytes(unit_bytes) / words_a_line;
}
/// The word of a byte of the unit.
[[nodiscard]] constexpr unsigned word_of(std::uint64_t offset, std::uint64_t unit_bytes) noexcept {
  return static_cast<unsigned>(std::min<std::uint64_t>(offset / word_bytes(unit_bytes), words - 1));
}
/// The words of `bytes` bytes, one at least, from an offset on.
[[nodiscard]] inline word_mask words_under(std::uint64_t offset, std::uint64_t bytes,
                                           std::uint64_t unit_bytes) noexcept {
  const unsigned first = word_of(offset, unit_bytes), last = word_of(offset + bytes - 1, unit_bytes);
  return (~word_mask{} >> (words - 1 - (last - first))) << first;
}
/// The words in which `bytes` bytes, a multiple of 64, from an offset of the unit on differ from what they were.
[[nodiscard]] inline word_mask words_that_differ(const std::byte* now, const std::byte* before, std::uint64_t offset,
                                                 std::uint64_t bytes, std::uint64_t unit_bytes) noexcept {
  constexpr std::uint64_t step = 64, word = 8;
  word_mask found;
  for (std::uint64_t line = 0; line < bytes; line += step) {
    if (std::memcmp(now + line, before + line, step) == 0) continue;
    for (std::uint64_t at = line; at < line + step; at += word)
      if (std::memcmp(now + at, before + at, word) != 0) found.set(word_of(offset + at, unit_bytes));
  }
  return found;
}

/// The lines that have some of these words.
[[nodiscard]] inline line_mask lines_of(const word_mask& of) noexcept {
  line_mask found;
  for (unsigned word = 0; word < words; ++word)
    if (of[word]) found.set(word / words_a_line);
  return found;
}
/// All words of these lines.
[[nodiscard]] inline word_mask words_of(const line_mask& of) noexcept {
  word_mask found;
  for (unsigned word = 0; word < words; ++word)
    if (of[word / words_a_line]) found.set(word);
  return found;
}

}  // namespace quire::sharing
