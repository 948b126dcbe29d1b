// The diff kernels in plain C++, by words of 64 bits. The AVX2 table takes pack and unpack from here: at one word at a
// time there is nothing to win.
#include "diff/kernels.hpp"

namespace quire::diff {
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

/// Stores the low `bytes` bytes of `value`, 4 to 7, without a branch for how many: they change from word to word.
void store_most(std::byte* at, std::uint64_t value, unsigned bytes) noexcept {
  const auto low = static_cast<std::uint32_t>(value), high = static_cast<std::uint32_t>(value >> (8 * (bytes - 4)));
  std::memcpy(at, &low, 4);
  std::memcpy(at + bytes - 4, &high, 4);
}

/// Stores those bytes of a word that have their bit in `mask`, which is neither 0 nor 0xff.
void store_part(std::byte* at, std::uint64_t value, unsigned mask) noexcept {
  do {
    const auto skip = static_cast<unsigned>(std::countr_zero(mask));
    at += skip, value >>= 8 * skip, mask >>= skip;
    const auto bytes = static_cast<unsigned>(std::countr_one(mask));  // at most 7: the shifts below are defined
    if (bytes >= 4) {
      store_most(at, value, bytes);
    } else {
      *at = static_cast<std::byte>(value);
      if (bytes >= 2) at[1] = static_cast<std::byte>(value >> 8);
      if (bytes == 3) at[2] = static_cast<std::byte>(value >> 16);
    }
    at += bytes, value >>= 8 * bytes, mask >>= bytes;
  } while (mask != 0);
}

/// The common cases first: all of a word, and all but its upper bytes, as in a number of which sign and exponent stay.
void store_changed(std::byte* at, std::uint64_t value, unsigned mask) noexcept {
  if (mask == 0xff)
    store_word(at, value);
  else if ((mask & (mask + 1)) == 0 && mask >= 0xf)
    store_most(at, value, static_cast<unsigned>(std::countr_one(mask)));
  else
    store_part(at, value, mask);
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

std::byte* portable_pack(const std::byte* unit, const std::uint64_t* masks, std::size_t lines,
                         std::byte* out) noexcept {
  std::byte* words_at = out + lines * mask_bytes;
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes) {
    store_word(out + line * mask_bytes, masks[line]);
    unsigned words = nonzero_bits(masks[line]);
    if (words == 0xff) {
      std::memcpy(words_at, unit, line_bytes);
      words_at += line_bytes;
      continue;
    }
    for (; words != 0; words &= words - 1, words_at += word_bytes)
      store_word(words_at, load_word(unit + word_bytes * static_cast<std::size_t>(std::countr_zero(words))));
  }
  return words_at;
}

const std::byte* portable_unpack(const std::byte* masks, std::size_t lines, std::byte* unit) noexcept {
  const std::byte* words_at = masks + lines * mask_bytes;
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes) {
    const std::uint64_t mask = load_word(masks + line * mask_bytes);
    for (unsigned left = nonzero_bits(mask); left != 0; left &= left - 1, words_at += word_bytes) {
      const auto word = static_cast<std::size_t>(std::countr_zero(left));
      store_changed(unit + word * word_bytes, load_word(words_at), static_cast<unsigned>(mask >> (8 * word)) & 0xff);
    }
  }
  return words_at;
}

constinit const kernels portable_kernels = {compare, portable_pack, portable_unpack, merge};

}  // namespace quire::diff
