// SPDX-License-Identifier: BSD-3-Clause
// Code in the place of an update of memory: a jump to a stub, which looks at the operand's address first, and then does
// what the update did.
//
//   lea -128(%rsp),%rsp; push %rax; (pushfq)       below the red zone
//   lea OPERAND,%rax; push %rcx; mov $table,%rcx
//   in the common heap? then on; else call look()  table: watch_table
//   pop %rcx; (popfq); pop %rax; lea 128(%rsp),%rsp
//   the update; jmp to what follows it
//
// A jump needs five bytes, and many updates have fewer. Then its last bytes are those of what follows, unchanged, and
// the stub lies where these make it lead (instruction punning: Chamith et al., PLDI 2017; E9Patch, PLDI 2020). Prefixes
// that mean nothing to a jump move it on, to other places. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "program/sites/site.hpp"

namespace quire::program::watch {

/// What stubs look at.
struct watch_table {
  std::uint64_t heap_first = 0, heap_bytes = 0;  ///< where most updates go to, all of it with sequential consistency
  void (*look)() = nullptr;  ///< with the address in %rax; keeps all registers but %rax, %rcx and flags
};

/// Where a stub may begin.
struct place {
  std::uint64_t first = 0, bytes = 0;
  unsigned prefixes = 0;  ///< of the jump that leads there
};
/// Bytes of code that a jump may take for its own.
inline constexpr std::size_t most_following = 4;

/// The best first. `at`: where the update is loaded; `following`: the bytes behind it.
[[nodiscard]] std::vector<place> places_for(const sites::site& s, std::uint64_t at,
                                            std::span<const std::uint8_t, most_following> following);

inline constexpr std::size_t most_stub_bytes = 96;
struct encoded {
  std::array<std::uint8_t, most_stub_bytes> bytes{};
  std::size_t size = 0;
};
/// None if the operand is too far from the stub.
[[nodiscard]] std::optional<encoded> encode_stub(const sites::site& s, std::uint64_t at, std::uint64_t stub,
                                                 const watch_table* table);
/// In the place of a fence, or of what tells the processor that a loop waits: it is done, and counted down in a
/// thread-local number of 32 bits, so far from the thread pointer; below zero the stub calls `spun`, which keeps all
/// registers but flags.
[[nodiscard]] std::optional<encoded> encode_spin_stub(const sites::site& s, std::uint64_t at, std::uint64_t stub,
                                                      std::int32_t count_at, void (*spun)());
/// As many bytes as the update has.
[[nodiscard]] std::vector<std::uint8_t> encode_jump(const sites::site& s, std::uint64_t at, std::uint64_t stub,
                                                    unsigned prefixes);

}  // namespace quire::program::watch
