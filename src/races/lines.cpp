// SPDX-License-Identifier: BSD-3-Clause
#include "races/lines.hpp"

#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace quire::races {
namespace {

constexpr std::size_t line_words = 8, line_size = 64;
constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15;
constexpr line_lanes keys = [] {
  line_lanes k{};
  for (std::size_t i = 0; i < k.size(); ++i) k[i] = (i + 1) * 0xd6e8'feb8'6659'fd93 ^ golden;
  return k;
}();

void add(line_lanes& to, std::size_t i, std::uint64_t word, std::uint64_t key) noexcept {
  const std::uint64_t v = word ^ key;
  to[i] += (v & 0xffff'ffff) * (v >> 32);
  to[i ^ 1] += word;
}

void compare_portable(const std::byte* now, const std::byte* before, std::size_t lines, std::uint64_t* masks,
                      line_lanes& is, line_lanes& was) noexcept {
  for (std::size_t line = 0; line < lines; ++line) {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < line_words; ++i) {
      std::uint64_t a = 0, b = 0;
      const std::size_t at = line * line_size + i * sizeof a;
      std::memcpy(&a, now + at, sizeof a);
      std::memcpy(&b, before + at, sizeof b);
      const std::uint64_t key = keys[i] + line * golden;
      add(is, i, a, key);
      add(was, i, b, key);
      mask |= bytes_of(a ^ b) << i * 8;
    }
    masks[line] = mask;
  }
}

#if defined(__x86_64__)
#define QUIRE_AVX2 __attribute__((target("avx2")))
#define QUIRE_AVX512 __attribute__((target("avx512f,avx512bw")))

QUIRE_AVX2 inline __m256i load2(const void* at) noexcept { return _mm256_loadu_si256(static_cast<const __m256i*>(at)); }
QUIRE_AVX2 inline __m256i add2(__m256i to, __m256i word, __m256i key) noexcept {
  const __m256i v = _mm256_xor_si256(word, key);
  to = _mm256_add_epi64(to, _mm256_mul_epu32(v, _mm256_srli_epi64(v, 32)));
  return _mm256_add_epi64(to, _mm256_shuffle_epi32(word, 0x4e));
}

QUIRE_AVX2 void compare_avx2(const std::byte* now, const std::byte* before, std::size_t lines, std::uint64_t* masks,
                             line_lanes& is, line_lanes& was) noexcept {
  const __m256i step = _mm256_set1_epi64x(static_cast<long long>(golden));
  __m256i key[2], hash_is[2], hash_was[2];
  for (int h = 0; h < 2; ++h) {
    key[h] = load2(keys.data() + 4 * h);
    hash_is[h] = load2(is.data() + 4 * h);
    hash_was[h] = load2(was.data() + 4 * h);
  }
  for (std::size_t line = 0; line < lines; ++line) {
    std::uint64_t mask = 0;
    for (int h = 0; h < 2; ++h) {
      __m256i a = load2(now + line * line_size + 32 * h);
      asm("" : "+x"(a));  // loaded once
      const __m256i b = load2(before + line * line_size + 32 * h);
      hash_is[h] = add2(hash_is[h], a, key[h]);
      hash_was[h] = add2(hash_was[h], b, key[h]);
      key[h] = _mm256_add_epi64(key[h], step);
      const auto same = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)));
      mask |= std::uint64_t{~same} << 32 * h;
    }
    masks[line] = mask;
  }
  for (int h = 0; h < 2; ++h) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(is.data() + 4 * h), hash_is[h]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(was.data() + 4 * h), hash_was[h]);
  }
}

QUIRE_AVX512 inline __m512i add5(__m512i to, __m512i word, __m512i key) noexcept {
  const __m512i v = _mm512_xor_si512(word, key);
  constexpr __mmask8 all = 0xff;  // without a mask GCC 12 warns of its own header
  to = _mm512_add_epi64(to, _mm512_maskz_mul_epu32(all, v, _mm512_maskz_srli_epi64(all, v, 32)));
  return _mm512_add_epi64(to, _mm512_maskz_shuffle_epi32(0xffff, word, _MM_PERM_BADC));
}

QUIRE_AVX512 void compare_avx512(const std::byte* now, const std::byte* before, std::size_t lines, std::uint64_t* masks,
                                 line_lanes& is, line_lanes& was) noexcept {
  const __m512i step = _mm512_set1_epi64(static_cast<long long>(golden));
  __m512i key = _mm512_loadu_si512(keys.data()), hash_is = _mm512_loadu_si512(is.data()),
          hash_was = _mm512_loadu_si512(was.data());
  for (std::size_t line = 0; line < lines; ++line) {
    __m512i a = _mm512_loadu_si512(now + line * line_size);
    asm("" : "+v"(a));  // loaded once
    const __m512i b = _mm512_loadu_si512(before + line * line_size);
    hash_is = add5(hash_is, a, key);
    hash_was = add5(hash_was, b, key);
    key = _mm512_add_epi64(key, step);
    masks[line] = _mm512_cmpneq_epi8_mask(a, b);
  }
  _mm512_storeu_si512(is.data(), hash_is);
  _mm512_storeu_si512(was.data(), hash_was);
}
#endif

line_variant best() noexcept {
  for (const auto v : {line_variant::avx512, line_variant::avx2})
    if (has(v)) return v;
  return line_variant::portable;
}
const line_variant the_best = best();

}  // namespace

bool has(line_variant v) noexcept {
#if defined(__x86_64__)
  if (v == line_variant::avx2) return __builtin_cpu_supports("avx2");
  if (v == line_variant::avx512) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
#endif
  return v == line_variant::portable;
}

void compare_lines(line_variant v, const std::byte* now, const std::byte* before, std::size_t lines,
                   std::uint64_t* masks, line_lanes& is, line_lanes& was) noexcept {
#if defined(__x86_64__)
  if (v == line_variant::avx512) return compare_avx512(now, before, lines, masks, is, was);
  if (v == line_variant::avx2) return compare_avx2(now, before, lines, masks, is, was);
#endif
  (void)v;
  compare_portable(now, before, lines, masks, is, was);
}

void compare_lines(const std::byte* now, const std::byte* before, std::size_t lines, std::uint64_t* masks,
                   line_lanes& is, line_lanes& was) noexcept {
  compare_lines(the_best, now, before, lines, masks, is, was);
}

}  // namespace quire::races
