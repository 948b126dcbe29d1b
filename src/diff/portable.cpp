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

/// Stores the low `bytes` bytes of `value`, 1 to 7, in two stores that may overlap.
void store_some(std::byte* at, std::uint64_t value, unsigned bytes) noexcept {
  if (bytes >= 4) {
    const auto low = static_cast<std::uint32_t>(value), high = static_cast<std::uint32_t>(value >> (8 * (bytes - 4)));
    std::memcpy(at, &low, 4);
    std::memcpy(at + bytes - 4, &high, 4);
  } else if (bytes >= 2) {
    const auto low = static_cast<std::uint16_t>(value), high = static_cast<std::uint16_t>(value >> (8 * (bytes - 2)));
    std::memcpy(at, &low, 2);
    std::memcpy(at + bytes - 2, &high, 2);
  } else {
    *at = static_cast<std::byte>(value);
  }
}

/// Stores those bytes of a word that have their bit in `mask`, which is not zero.
void store_word(std::byte* at, std::uint64_t value, unsigned mask) noexcept {
  if (mask == 0xff) {
    std::memcpy(at, &value, word_bytes);
    return;
  }
  do {
    const auto skip = static_cast<unsigned>(std::countr_zero(mask));
    at += skip, value >>= 8 * skip, mask >>= skip;
    const auto bytes = static_cast<unsigned>(std::countr_one(mask));  // at most 7: then the value is used up
    store_some(at, value, bytes);
    at += bytes, value >>= 8 * bytes, mask >>= bytes;
  } while (mask != 0);
}

void merge(std::byte* out, const std::byte* copy, const std::byte* base, std::size_t lines) noexcept {
  for (const std::byte* const end = out + lines * line_bytes; out != end; out += word_bytes) {
    if (const std::uint64_t changed = load_word(copy) ^ load_word(base); changed != 0) {
      const std::uint64_t merged = load_word(out) ^ changed;
      std::memcpy(out, &merged, word_bytes);
    }
    copy += word_bytes, base += word_bytes;
  }
}

}  // namespace

std::byte* portable_pack(const std::byte* unit, const std::uint64_t* masks, std::size_t lines,
                         std::byte* out) noexcept {
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes) {
    unsigned words = nonzero_bits(masks[line]);
    if (words == 0xff) {
      std::memcpy(out, unit, line_bytes);
      out += line_bytes;
      continue;
    }
    for (; words != 0; words &= words - 1, out += word_bytes)
      std::memcpy(out, unit + word_bytes * static_cast<std::size_t>(std::countr_zero(words)), word_bytes);
  }
  return out;
}

const std::byte* portable_unpack(const std::byte* words, const std::byte* masks, std::size_t lines,
                                 std::byte* unit) noexcept {
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes) {
    const std::uint64_t mask = load_word(masks + line * sizeof mask);
    for (unsigned left = nonzero_bits(mask); left != 0; left &= left - 1, words += word_bytes) {
      const auto word = static_cast<std::size_t>(std::countr_zero(left));
      store_word(unit + word * word_bytes, load_word(words), static_cast<unsigned>(mask >> (8 * word)) & 0xff);
    }
  }
  return words;
}

constinit const kernels portable_kernels = {compare, portable_pack, portable_unpack, merge};

}  // namespace quire::diff
