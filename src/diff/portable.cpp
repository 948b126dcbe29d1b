// SPDX-License-Identifier: BSD-3-Clause
// The diff kernels in plain C++, by words of 64 bits. The AVX2 table takes pack and unpack from here: at one word at a
// time there is nothing to win.
#include "diff/kernels.hpp"

namespace quire::diff {
namespace portable {
namespace {

compared compare(const std::byte* unit, const std::byte* twin, std::size_t lines, std::uint64_t* masks) noexcept {
  compared found;
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes, twin += line_bytes) {
    std::uint64_t any = 0;
    for (std::size_t at = 0; at < line_bytes; at += word_bytes) any |= load_word(unit + at) ^ load_word(twin + at);
    if (any == 0) continue;
    std::uint64_t mask = 0;
    for (std::size_t word = 0; word < line_bytes / word_bytes; ++word)
      mask |= std::uint64_t{nonzero_bits(load_word(unit + word * word_bytes) ^ load_word(twin + word * word_bytes))}
              << (8 * word);
    masks[line] = mask;
    found.changed |= std::uint64_t{mask != 0} << line;
    found.full |= std::uint64_t{mask == ~std::uint64_t{0}} << line;
  }
  return found;
}

/// 0xff in byte i for bit i of `bits`, 0 to 0xff.
constexpr std::uint64_t bytes_of(unsigned bits) noexcept {
  return nonzero_bytes((std::uint64_t{bits} * 0x0101010101010101) & 0x8040201008040201) * 0xff;
}
static_assert(bytes_of(0x81) == 0xff000000000000ff && bytes_of(0x12) == 0x000000ff0000ff00);

using unaligned_word [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;

/// Stores those bytes of a word that have their bit in `mask`. Whoever looks at the word sees all of them, or none.
void store_changed(std::byte* at, std::uint64_t value, unsigned mask, beside threads) noexcept {
  if (mask == 0xff) return store_word(at, value);
  const std::uint64_t changed = bytes_of(mask);
  value &= changed;
  if (threads == beside::none) return store_word(at, (load_word(at) & ~changed) | value);
  auto* const word = reinterpret_cast<unaligned_word*>(at);
  for (std::uint64_t old = load_word(at);;) {
    const std::uint64_t found = __sync_val_compare_and_swap(word, old, (old & ~changed) | value);
    if (found == old) return;
    old = found;
  }
}

void merge(std::byte* out, const std::byte* copy, const std::byte* base, std::size_t lines) noexcept {
  for (const std::byte* const end = out + lines * line_bytes; out != end; out += word_bytes) {
    if (const std::uint64_t changed = load_word(copy) ^ load_word(base); changed != 0) {
      store_word(out, load_word(out) ^ changed);
    }
    copy += word_bytes, base += word_bytes;
  }
}

}  // namespace
}  // namespace portable

std::byte* portable_pack(const std::byte* unit, const std::byte* twin, const std::uint64_t* masks, std::size_t lines,
                         std::byte* out) noexcept {
  std::byte* words_at = out + lines * mask_bytes;
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes, twin += line_bytes) {
    std::uint64_t now = 0;
    for (unsigned words = nonzero_bits(masks[line]); words != 0; words &= words - 1, words_at += word_bytes) {
      const auto word = static_cast<std::size_t>(std::countr_zero(words));
      const std::uint64_t value = load_live_word(unit + word * word_bytes);
      store_word(words_at, value);
      const std::uint64_t differs = value ^ load_word(twin + word * word_bytes);
      now |= std::uint64_t{nonzero_bits(differs)} << (8 * word);
    }
    store_word(out + line * mask_bytes, packed_mask(masks[line], now));
  }
  return words_at;
}

const std::byte* portable_unpack(const std::byte* masks, const std::byte* words, std::size_t lines, std::byte* unit,
                                 beside threads) noexcept {
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes) {
    const std::uint64_t mask = load_word(masks + line * mask_bytes);
    for (unsigned left = nonzero_bits(mask); left != 0; left &= left - 1, words += word_bytes) {
      const auto word = static_cast<std::size_t>(std::countr_zero(left));
      portable::store_changed(unit + word * word_bytes, load_word(words),
                              static_cast<unsigned>(mask >> (8 * word)) & 0xff, threads);
    }
  }
  return words;
}

constinit const kernels portable_kernels = {portable::compare, portable_pack, portable_unpack, portable::merge};

}  // namespace quire::diff
