// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that Quire has, and what it stands on: the program, which does not know of them, may close all that it
// does not know.
#pragma once

namespace quire::program {

/// Before the job starts: what is open now is the program's, but for the launcher's.
void note_inherited_descriptors() noexcept;
/// When it has started: what has been opened since is not, nor what Quire opens later.
void note_own_descriptors() noexcept;

/// A call has given the number to its caller: the program, where that is null, or who has called from there. Whoever
/// had it before. Gives it back.
int given_to(const void* caller, int fd) noexcept;
/// The same of two, where `result` is 0.
int given_to(const void* caller, int result, const int* two) noexcept;

/// Of numbers below 1024.
[[nodiscard]] bool is_own_descriptor(int fd) noexcept;

}  // namespace quire::program
