// SPDX-License-Identifier: BSD-3-Clause
// Loops of the program that wait for a plain variable: a flush, a fence or `pause` in them is counted (stub.hpp), and
// where many come one right after the other, the node serves others meanwhile (quire_spin()): the thread may wait for
// what another node does with memory that this node has.
#pragma once

#include <cstdint>

namespace quire::program::watch {

/// For encode_spin_stub(): where the thread's number lies, from the thread pointer on.
[[nodiscard]] std::int32_t place_of_count() noexcept;
using spun_function = void (*)();
/// And what to call. Null: this processor cannot save its registers (xsave).
[[nodiscard]] spun_function spun_for_stubs() noexcept;
/// The same, of a flush that is a call.
void note_flush() noexcept;

}  // namespace quire::program::watch
