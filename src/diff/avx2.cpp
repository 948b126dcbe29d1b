// SPDX-License-Identifier: BSD-3-Clause
// The diff kernels for AVX2: lines are compared and merged in two registers.
#if defined(__x86_64__)
#include <immintrin.h>

#include "diff/kernels.hpp"

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

constinit const kernels avx2_kernels = {avx2::compare, portable_pack, portable_unpack, avx2::merge};

}  // namespace quire::diff
#endif
