// SPDX-License-Identifier: BSD-3-Clause
// One line of a diff's run, by words of 64 bits: packed, and unpacked. For the kernels that go line by line.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "diff/kernels.hpp"

namespace quire::diff {

/// Writes the line's changed words, and returns their end. `mask` becomes what is packed.
inline std::byte* pack_line(const std::byte* unit, const std::byte* twin, std::uint64_t& mask,
                            std::byte* words_at) noexcept {
  std::uint64_t now = 0;
  for (unsigned words = nonzero_bits(mask); words != 0; words &= words - 1, words_at += word_bytes) {
    const auto word = static_cast<std::size_t>(std::countr_zero(words));
    const std::uint64_t value = load_live_word(unit + word * word_bytes);
    store_word(words_at, value);
    const std::uint64_t differs = value ^ load_word(twin + word * word_bytes);
    now |= std::uint64_t{nonzero_bits(differs)} << (8 * word);
  }
  mask = packed_mask(mask, now);
  return words_at;
}

/// 0xff in byte i for bit i of `bits`, 0 to 0xff.
constexpr std::uint64_t bytes_of(unsigned bits) noexcept {
  return nonzero_bytes((std::uint64_t{bits} * 0x0101010101010101) & 0x8040201008040201) * 0xff;
}
static_assert(bytes_of(0x81) == 0xff000000000000ff && bytes_of(0x12) == 0x000000ff0000ff00);

/// Stores those bytes of a word that have their bit in `mask`. Whoever looks at the word sees all of them, or none.
inline void store_changed(std::byte* at, std::uint64_t value, unsigned mask, beside threads) noexcept {
  if (mask == 0xff) return store_word(at, value);
  const std::uint64_t changed = bytes_of(mask);
  value &= changed;
  if (threads == beside::none) return store_word(at, (load_word(at) & ~changed) | value);
  using unaligned_word [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;
  auto* const word = reinterpret_cast<unaligned_word*>(at);
  for (std::uint64_t old = load_word(at);;) {
    const std::uint64_t found = __sync_val_compare_and_swap(word, old, (old & ~changed) | value);
    if (found == old) return;
    old = found;
  }
}

/// The way back. Returns the end of the words it read.
inline const std::byte* unpack_line(std::uint64_t mask, const std::byte* words, std::byte* unit,
                                    beside threads) noexcept {
  for (unsigned left = nonzero_bits(mask); left != 0; left &= left - 1, words += word_bytes) {
    const auto word = static_cast<std::size_t>(std::countr_zero(left));
    store_changed(unit + word * word_bytes, load_word(words), static_cast<unsigned>(mask >> (8 * word)) & 0xff,
                  threads);
  }
  return words;
}

}  // namespace quire::diff
