// SPDX-License-Identifier: BSD-3-Clause
// What a function does with the block that its first argument points to: whether it only reads it, and how much of it.
// Then who calls it on another node may give it a copy. The compiler's function of a parallel region is of that kind
// unless the region writes a variable that lies in the block, or hands the block on (a task). To some words it may add
// (sums.hpp).
//
// The registers and the places of its frame that may have the pointer are followed along all ways through the function.
// Whatever else is done with it, or cannot be known, counts as a write. One assumption: a place of the frame in which
// the compiler keeps the pointer is used by its name only, as long as the function takes no address in its frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "program/sites/decoder.hpp"
#include "program/sites/sums.hpp"

namespace quire::program::sites {

/// Calls that take no address, so that what is left in the registers of addresses does not matter. `at`: the function,
/// or the word that has its address.
struct known_calls {
  virtual ~known_calls() = default;
  [[nodiscard]] virtual known_call find(std::uint64_t at, bool word) const noexcept = 0;
};

/// What a function does with the block: it reads no more than the first `read` bytes, and adds to some words.
struct block_use {
  std::uint32_t read = 0;
  summed_words sums{};
  /// While it has the lock of atomics, it uses nothing but the block and its own frame, of which nobody else has an
  /// address. So those who use the same block need that lock, and nobody else does.
  bool locks_block_only = false;
};

/// Nothing: it may do anything with it, or uses more than its first `most` bytes. `function`: all of its instructions,
/// which stand at `address`.
[[nodiscard]] std::optional<block_use> use_of_block(const decoder& by, std::span<const std::byte> function,
                                                    std::uint64_t address, std::uint32_t most,
                                                    const known_calls& known);

}  // namespace quire::program::sites
