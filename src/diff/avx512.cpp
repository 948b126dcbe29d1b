// SPDX-License-Identifier: BSD-3-Clause
// The diff kernels for AVX-512 (F and BW): a line is one register, its mask is what the comparison gives, words are
// packed and unpacked by one instruction, and stores leave bytes alone by mask.
#if defined(__x86_64__)
#include <immintrin.h>

#include "diff/kernels.hpp"

#define QUIRE_AVX512 __attribute__((target("avx512f,avx512bw,popcnt")))

namespace quire::diff {
namespace avx512 {
namespace {

QUIRE_AVX512 inline __m512i load(const std::byte* at) noexcept { return _mm512_loadu_si512(at); }

/// The low `words` bits, 0 to 8.
inline __mmask8 first(unsigned words) noexcept { return static_cast<__mmask8>((1u << words) - 1); }

QUIRE_AVX512 compared compare(const std::byte* unit, const std::byte* twin, std::size_t lines,
                              std::uint64_t* masks) noexcept {
  compared found;
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes, twin += line_bytes) {
    const std::uint64_t mask = _mm512_cmpneq_epi8_mask(load(unit), load(twin));
    if (mask == 0) continue;
    masks[line] = mask;
    found.changed |= std::uint64_t{1} << line;
    found.full |= std::uint64_t{mask == ~std::uint64_t{0}} << line;
  }
  return found;
}

QUIRE_AVX512 std::byte* pack(const std::byte* unit, const std::byte* twin, const std::uint64_t* masks,
                             std::size_t lines, std::byte* out) noexcept {
  std::byte* words_at = out + lines * mask_bytes;
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes, twin += line_bytes) {
    __m512i content = load(unit);
    asm("" : "+v"(content));  // loaded once
    const std::uint64_t now = _mm512_cmpneq_epi8_mask(content, load(twin));
    store_word(out + line * mask_bytes, packed_mask(masks[line], now));
    const unsigned words = nonzero_bits(masks[line]);
    const auto count = static_cast<unsigned>(__builtin_popcount(words));
    const __m512i packed = _mm512_maskz_compress_epi64(static_cast<__mmask8>(words), content);
    _mm512_mask_storeu_epi64(words_at, first(count), packed);
    words_at += count * word_bytes;
  }
  return words_at;
}

/// A store under a mask is one store of the line, whether or not threads write other bytes of it.
QUIRE_AVX512 const std::byte* unpack(const std::byte* masks, const std::byte* words_at, std::size_t lines,
                                     std::byte* unit, beside) noexcept {
  for (std::size_t line = 0; line < lines; ++line, unit += line_bytes) {
    const std::uint64_t mask = load_word(masks + line * mask_bytes);
    const unsigned words = nonzero_bits(mask);
    const auto count = static_cast<unsigned>(__builtin_popcount(words));
    const __m512i packed = _mm512_maskz_loadu_epi64(first(count), words_at);
    _mm512_mask_storeu_epi8(unit, mask, _mm512_maskz_expand_epi64(static_cast<__mmask8>(words), packed));
    words_at += count * word_bytes;
  }
  return words_at;
}

QUIRE_AVX512 void merge(std::byte* out, const std::byte* copy, const std::byte* base, std::size_t lines) noexcept {
  for (std::size_t at = 0; at < lines * line_bytes; at += line_bytes) {
    const __m512i changed = _mm512_xor_si512(load(copy + at), load(base + at));
    if (_mm512_test_epi64_mask(changed, changed) == 0) continue;
    _mm512_storeu_si512(out + at, _mm512_xor_si512(load(out + at), changed));
  }
}

}  // namespace
}  // namespace avx512

constinit const kernels avx512_kernels = {avx512::compare, avx512::pack, avx512::unpack, avx512::merge};

}  // namespace quire::diff
#endif
