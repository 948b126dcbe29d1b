// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of the diff codec: one table of functions for each variant, the same results from each. Called by
// diff.cpp only, which has checked all sizes. Compiled for their machine by target attributes, so that the library runs
// anywhere. Thread context: any. No pointer needs an alignment.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace quire::diff {

static_assert(std::endian::native == std::endian::little, "byte i of a word is bits 8i to 8i+7");

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t word_bytes = 8;
inline constexpr std::size_t mask_bytes = line_bytes / 8;  ///< a bit for each byte of a line
inline constexpr std::size_t block_lines = 64;             ///< lines that are compared at a time, 4 KiB

/// Lines of a block, a bit each.
struct compared {
  std::uint64_t changed = 0;  ///< some byte
  std::uint64_t full = 0;     ///< every byte
};

/// Application threads that may be writing to the unit, other bytes of it, while a diff is applied.
enum class beside : std::uint8_t { none, writers };

struct kernels {
  /// Compares `lines` lines, 1 to block_lines. masks[i] of a changed line i: a bit for each changed byte; the others
  /// are left as they are.
  compared (*compare)(const std::byte* unit, const std::byte* twin, std::size_t lines, std::uint64_t* masks) noexcept;

  /// Writes what a run holds of `lines` lines: their masks, then their changed words. Words that have changed since
  /// they were compared get the bits of what is packed (packed_mask). Returns the end of what it wrote.
  std::byte* (*pack)(const std::byte* unit, const std::byte* twin, const std::uint64_t* masks, std::size_t lines,
                     std::byte* out) noexcept;

  /// The way back: writes the bytes that the masks of a run name, and no other. Returns the end of the words it read.
  const std::byte* (*unpack)(const std::byte* masks, const std::byte* words, std::size_t lines, std::byte* unit,
                             beside threads) noexcept;

  /// out ^= copy ^ base; lines that are equal in copy and base are not written.
  void (*merge)(std::byte* out, const std::byte* copy, const std::byte* base, std::size_t lines) noexcept;
};

extern const kernels portable_kernels;
/// Of the portable table, for others.
std::byte* portable_pack(const std::byte* unit, const std::byte* twin, const std::uint64_t* masks, std::size_t lines,
                         std::byte* out) noexcept;
const std::byte* portable_unpack(const std::byte* masks, const std::byte* words, std::size_t lines, std::byte* unit,
                                 beside threads) noexcept;
#if defined(__x86_64__)
extern const kernels avx2_kernels;
extern const kernels avx512_kernels;
#endif

inline std::uint64_t load_word(const void* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Of memory that threads are writing: it is looked at once.
inline std::uint64_t load_live_word(const void* at) noexcept {
  using live_word [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;
  return *static_cast<const volatile live_word*>(at);
}

inline void store_word(void* at, std::uint64_t word) noexcept { std::memcpy(at, &word, sizeof word); }

/// 1 in each byte of the word that is not zero.
constexpr std::uint64_t nonzero_bytes(std::uint64_t word) noexcept {
  constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7f;
  return ((((word & low) + low) | word) >> 7) & 0x0101010101010101;
}

/// Bit i: byte i of the word is not zero. For a line's mask that is: word i of the line changed.
constexpr unsigned nonzero_bits(std::uint64_t word) noexcept {
  return static_cast<unsigned>((nonzero_bytes(word) * 0x0102040810204080) >> 56);
}

/// How many bytes of the word are not zero: for a line's mask, how many words follow.
constexpr std::size_t nonzero_count(std::uint64_t word) noexcept {
  return static_cast<std::size_t>((nonzero_bytes(word) * 0x0101010101010101) >> 56);
}

/// The mask of a line for words that were loaded after it was compared. `now`: in which bytes they differ from the
/// twin, as they were loaded. The words stay the same ones. Which of their bytes count is of one moment: with the bits
/// of an earlier one, a number that went from 0x1ff to 0x205 in between would arrive as 0x105. A word that has become
/// as the twin is again keeps its bits.
constexpr std::uint64_t packed_mask(std::uint64_t compared, std::uint64_t now) noexcept {
  const std::uint64_t loaded = now & (nonzero_bytes(compared) * 0xff);
  return loaded | (compared & ~(nonzero_bytes(loaded) * 0xff));
}

}  // namespace quire::diff
