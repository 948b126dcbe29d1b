// SPDX-License-Identifier: BSD-3-Clause
// Calls of functions in other modules. A linkage table's entry (.plt) jumps where a word says that lies beside the
// program's variables, in shared memory: whoever writes one of these takes the page from all who call, and each call is
// a page fault. Entries are made to read a private copy of these words.
#pragma once

#include <cstdint>
#include <span>

#include "program/process/modules.hpp"

namespace quire::program::watch {

/// An entry's jump: `jmp *target(%rip)`.
struct table_jump {
  static constexpr std::uint64_t bytes = 6;
  std::uint64_t at = 0, target = 0;
};
/// The next jump in code that is loaded at `address`, from `from` on, whose target is among `words`; at: 0: none.
[[nodiscard]] table_jump next_jump(std::span<const std::uint8_t> code, std::uint64_t address, std::uint64_t from,
                                   std::span<const std::uint64_t> words) noexcept;

/// Before anything of the program runs, and before its data is shared, when all words are final (LD_BIND_NOW). A word
/// that is not stays where it is; so do all where the system lets no code be changed.
void keep_calls_private(std::span<const module> modules);

}  // namespace quire::program::watch
