// SPDX-License-Identifier: BSD-3-Clause
// The diff kernels in plain C++, by words of 64 bits.
#include "diff/kernels.hpp"
#include "diff/lines.hpp"

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
    std::uint64_t mask = masks[line];
    words_at = pack_line(unit, twin, mask, words_at);
    store_word(out + line * mask_bytes, mask);
  }
  return words_at;
}

const std::byte* portable_unpack(const std::byte* masks, const std::byte* words, std::size_t lines, std::byte* unit,
                                 beside threads) noexcept {
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes)
    words = unpack_line(load_word(masks + line * mask_bytes), words, unit, threads);
  return words;
}

constinit const kernels portable_kernels = {portable::compare, portable_pack, portable_unpack, portable::merge};

}  // namespace quire::diff
