// SPDX-License-Identifier: BSD-3-Clause
// The diff kernels for AVX2: lines are compared and merged in two registers, packed and unpacked if every word changed:
// numbers that are computed anew differ in most bytes, and their exponents stay.
#if defined(__x86_64__)
#include <immintrin.h>

#include "diff/kernels.hpp"
#include "diff/lines.hpp"

#define QUIRE_AVX2 __attribute__((target("avx2")))

namespace quire::diff {
namespace avx2 {
namespace {

QUIRE_AVX2 inline __m256i load(const std::byte* at) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

/// A bit for each equal byte.
QUIRE_AVX2 inline std::uint64_t bits(__m256i equal) noexcept {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(equal));
}

QUIRE_AVX2 compared compare(const std::byte* unit, const std::byte* twin, std::size_t lines,
                            std::uint64_t* masks) noexcept {
  compared found;
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes, twin += line_bytes) {
    const __m256i low = _mm256_cmpeq_epi8(load(unit), load(twin));
    const __m256i high = _mm256_cmpeq_epi8(load(unit + 32), load(twin + 32));
    if (_mm256_movemask_epi8(_mm256_and_si256(low, high)) == -1) [[likely]]
      continue;
    const std::uint64_t mask = ~(bits(low) | bits(high) << 32);
    masks[line] = mask;
    found.changed |= std::uint64_t{1} << line;
    found.full |= std::uint64_t{mask == ~std::uint64_t{0}} << line;
  }
  return found;
}

constexpr unsigned all_words = 0xff;  ///< bits of nonzero_bits()

QUIRE_AVX2 inline void store(std::byte* at, __m256i content) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), content);
}

QUIRE_AVX2 std::byte* pack(const std::byte* unit, const std::byte* twin, const std::uint64_t* masks, std::size_t lines,
                           std::byte* out) noexcept {
  std::byte* words_at = out + lines * mask_bytes;
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes, twin += line_bytes) {
    std::uint64_t mask = masks[line];
    if (nonzero_bits(mask) != all_words) {
      words_at = pack_line(unit, twin, mask, words_at);
    } else {
      __m256i low = load(unit), high = load(unit + 32);
      asm("" : "+x"(low), "+x"(high));  // loaded once
      const std::uint64_t equal =
          bits(_mm256_cmpeq_epi8(low, load(twin))) | bits(_mm256_cmpeq_epi8(high, load(twin + 32))) << 32;
      store(words_at, low);
      store(words_at + 32, high);
      mask = packed_mask(mask, ~equal);
      words_at += line_bytes;
    }
    store_word(out + line * mask_bytes, mask);
  }
  return words_at;
}

/// 0xff in byte i for bit i.
QUIRE_AVX2 inline __m256i spread(std::uint32_t bits) noexcept {
  const __m256i which = _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  const __m256i copies = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), which);
  return _mm256_cmpeq_epi8(_mm256_and_si256(copies, bit), bit);
}

/// Each word is stored as a whole, as its line is stored in pieces of 16 bytes at least.
QUIRE_AVX2 const std::byte* unpack(const std::byte* masks, const std::byte* words, std::size_t lines, std::byte* unit,
                                   beside threads) noexcept {
  if (threads != beside::none) return portable_unpack(masks, words, lines, unit, threads);
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes) {
    const std::uint64_t mask = load_word(masks + line * mask_bytes);
    if (nonzero_bits(mask) != all_words) {
      words = unpack_line(mask, words, unit, threads);
      continue;
    }
    const __m256i low = spread(static_cast<std::uint32_t>(mask));
    const __m256i high = spread(static_cast<std::uint32_t>(mask >> 32));
    store(unit, _mm256_blendv_epi8(load(unit), load(words), low));
    store(unit + 32, _mm256_blendv_epi8(load(unit + 32), load(words + 32), high));
    words += line_bytes;
  }
  return words;
}

QUIRE_AVX2 void merge(std::byte* out, const std::byte* copy, const std::byte* base, std::size_t lines) noexcept {
  for (std::size_t at = 0; at < lines * line_bytes; at += line_bytes) {
    const __m256i low = _mm256_xor_si256(load(copy + at), load(base + at));
    const __m256i high = _mm256_xor_si256(load(copy + at + 32), load(base + at + 32));
    const __m256i any = _mm256_or_si256(low, high);
    if (_mm256_testz_si256(any, any)) continue;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at), _mm256_xor_si256(load(out + at), low));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at + 32), _mm256_xor_si256(load(out + at + 32), high));
  }
}

}  // namespace
}  // namespace avx2

constinit const kernels avx2_kernels = {avx2::compare, avx2::pack, avx2::unpack, avx2::merge};

}  // namespace quire::diff
#endif
