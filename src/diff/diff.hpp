// SPDX-License-Identifier: BSD-3-Clause
// What changed in a unit since its twin was made: encoded as a diff, applied to the home's copy; and the merge of
// KOAN's parallel blocks. Twins and diffs: Carter, Bennett, Zwaenepoel, Implementation and Performance of Munin (SOSP
// 1991); with homes: Zhou, Iftode, Li, Performance Evaluation of Two Home-Based Lazy Release Consistency Protocols
// (OSDI 1996).
//
// Thread context: any, fault context too. Nothing here allocates, locks, or keeps state. Sizes and offsets are in
// bytes.
//
// Exact to the byte. Two nodes may write neighbouring bytes without a data race (C++: distinct bytes are distinct
// memory locations). So a diff writes no byte that was equal in unit and twin, and apply() stores such bytes not even
// with their old value. Diffs against the same twin that have no byte in common may be applied in any order.
//
// Encoding. A unit is seen as lines of 64 bytes, words of 8, and bytes; its last line may be ragged. A diff is a list
// of runs, in the order of their lines:
//
//     header   4 bytes: first line (15 bits), number of lines - 1 (15), full (1), last run of the diff (1)
//     full     the lines, as they are: every byte of them changed. Never the ragged line.
//     else     for each line 8 bytes, bit i of which says that byte i of the line changed, none of them zero; then, for
//              all lines, the words in which a byte changed
//
// Why so: lines are what a vector register compares, and the comparison yields the bits as they are sent; the bits keep
// it exact, the words keep it small (20 bytes for one changed word) and fast to pack. A run per stretch of bytes, as in
// Munin and TreadMarks, would cost a header for every double whose sign and exponent stay. The mark on the last run
// makes a diff that is cut off anywhere invalid.
//
// Size. At most worst_bytes(): 9/8 of the unit, and 4 bytes a 4 KiB (4612 for 4 KiB, 2361344 for 2 MiB).
//
// Sending a unit whole overwrites every byte at the home. encode() says so only if every byte changed, or if the caller
// vouches (writers::one) that since this node's copy was last made current no other node, nor the home, wrote to the
// unit.
//
// Writes while encode() reads: other threads of the node may go on writing the unit. What the diff holds of a word of 8
// bytes is then one of the values that it had meanwhile, and a word that changes later is as if it had not; sizes and
// bounds hold. To keep a twin in use beyond that, apply the diff to the twin: it then holds just what was sent. The
// twin, and a diff that is being applied, must not change.
//
// Readers while apply() writes see of each word of 8 bytes what it was, or what it is then, never a mixture. Only the
// ragged line is stored byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "diff/kernels.hpp"

namespace quire::diff {

inline constexpr std::size_t max_unit_bytes = std::size_t{2} << 20;

/// The code that does the work; all variants give the same bytes.
enum class variant : std::uint8_t { portable, avx2, avx512 };
inline constexpr variant all_variants[] = {variant::portable, variant::avx2, variant::avx512};
[[nodiscard]] const char* name(variant v) noexcept;
/// Does this machine have it?
[[nodiscard]] bool available(variant v) noexcept;

/// Who wrote the unit since this node's copy was last made current.
enum class writers : std::uint8_t {
  one,     ///< this node alone: the unit may be sent whole
  several  ///< perhaps others: no byte may be sent that did not change
};

enum class outcome : std::uint8_t {
  unchanged,  ///< nothing to send
  diff,       ///< a diff is in the buffer
  whole,      ///< send the unit itself; what is in the buffer means nothing
  no_room     ///< the diff is larger than the buffer, and the unit may not be sent whole
};

struct encoded {
  outcome what = outcome::unchanged;
  std::size_t bytes = 0;  ///< of the diff; 0 for all other outcomes
};

/// The largest diff of a unit: a buffer of this size is never too small.
[[nodiscard]] constexpr std::size_t worst_bytes(std::size_t unit_bytes) noexcept {
  const std::size_t lines = unit_bytes / line_bytes, ragged = unit_bytes % line_bytes != 0;
  const std::size_t blocks = (lines + block_lines - 1) / block_lines + ragged;
  return (lines + ragged) * (line_bytes + mask_bytes) + blocks * sizeof(std::uint32_t);
}

/// All operations, by one variant of the code. A value: make one, and keep it.
class codec {
 public:
  /// The best that the machine has.
  codec() noexcept;
  /// A variant by name; it must be available.
  explicit codec(variant v) noexcept;
  [[nodiscard]] variant which() const noexcept { return variant_; }

  /// Encodes how `unit` (1 byte to max_unit_bytes) differs from `twin`, which has the same size. With writers::one the
  /// outcome is `whole` as soon as the diff is larger than the unit or than `out`, never no_room; with
  /// writers::several it is `whole` if every byte changed, however large `out` is.
  [[nodiscard]] encoded encode(std::span<const std::byte> unit, const std::byte* twin, std::span<std::byte> out,
                               writers who) const noexcept;

  /// Whether encode() would find anything: a word of `unit` that other threads write counts as it is when it is read.
  /// For units that mostly have not changed; `unit` and `twin` as for encode().
  [[nodiscard]] bool differs(std::span<const std::byte> unit, const std::byte* twin) const noexcept;

  /// Writes to `unit` what `diff` says, and nothing else. False, and nothing written, if it is not a diff of a unit of
  /// this size: the bytes may come from anywhere. With beside::writers threads may write other bytes of the unit
  /// meanwhile, of the same words even: then words of which some bytes change cost a locked instruction each, without
  /// AVX-512.
  [[nodiscard]] bool apply(std::span<const std::byte> diff, std::span<std::byte> unit,
                           beside threads = beside::none) const noexcept;

  /// KOAN's merge by exclusive-or at the end of a parallel block (Lahjomri and Priol): `out`, which began as `base`,
  /// gets what changed in `copy`. Nobody else may write `out` meanwhile. All three have the size of `out`, which may be
  /// any.
  void merge(std::span<std::byte> out, const std::byte* copy, const std::byte* base) const noexcept;

  /// Bernstein's conditions, to be asked before each merge(): the offset of the first byte that changed in `copy` and,
  /// by the merges so far, in `out`; the size of `out` if there is none. Two nodes that write the same value overlap
  /// too; a node that writes the value of `base` has changed nothing.
  [[nodiscard]] std::size_t first_overlap(std::span<const std::byte> out, const std::byte* copy,
                                          const std::byte* base) const noexcept;

 private:
  const kernels* kernels_;
  variant variant_;
};

}  // namespace quire::diff
