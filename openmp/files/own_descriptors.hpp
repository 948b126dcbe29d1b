// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that Quire has, and what it stands on: the program, which does not know of them, may close all that it does not know.
#pragma once

namespace quire::openmp {

/// Before the job starts: what is open now is the program's, but for the launcher's.
void note_inherited_descriptors() noexcept;
/// When it has started: what has been opened since is not.
void note_own_descriptors() noexcept;

/// Of numbers below 1024.
[[nodiscard]] bool is_own_descriptor(int fd) noexcept;

}  // namespace quire::openmp
