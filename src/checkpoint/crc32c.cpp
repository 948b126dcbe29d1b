// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace quire::checkpoint {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // bits reversed

constexpr std::array<std::uint32_t, 256> table = [] {
  std::array<std::uint32_t, 256> made{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? polynomial : 0);
    made[i] = rest;
  }
  return made;
}();

[[maybe_unused]] std::uint64_t word_at(const std::byte* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(const std::byte* at, std::size_t left,
                                                               std::uint32_t crc) noexcept {
  std::uint64_t wide = crc;
  for (; left >= 8; at += 8, left -= 8) wide = _mm_crc32_u64(wide, word_at(at));
  auto narrow = static_cast<std::uint32_t>(wide);
  for (; left != 0; ++at, --left) narrow = _mm_crc32_u8(narrow, static_cast<unsigned char>(*at));
  return narrow;
}
bool has_instruction() noexcept { return __builtin_cpu_supports("sse4.2") != 0; }
#elif defined(__ARM_FEATURE_CRC32)
std::uint32_t by_instruction(const std::byte* at, std::size_t left, std::uint32_t crc) noexcept {
  for (; left >= 8; at += 8, left -= 8) crc = __crc32cd(crc, word_at(at));
  for (; left != 0; ++at, --left) crc = __crc32cb(crc, static_cast<unsigned char>(*at));
  return crc;
}
bool has_instruction() noexcept { return true; }
#else
std::uint32_t by_instruction(const std::byte*, std::size_t, std::uint32_t crc) noexcept { return crc; }
bool has_instruction() noexcept { return false; }
#endif

}  // namespace

std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  for (const std::byte b : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<std::uint32_t>(b)) & 0xff];
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  static const bool fast = has_instruction();
  return fast ? ~by_instruction(bytes.data(), bytes.size(), ~before) : crc32c_portable(bytes, before);
}

}  // namespace quire::checkpoint
