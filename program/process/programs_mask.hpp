// SPDX-License-Identifier: BSD-3-Clause
// Threads of teams and clerks block the signals of the process, which are for threads that the program has made. What
// they start for the program must not inherit that.
#pragma once

#include <signal.h>

#include "os/signals_held.hpp"

namespace quire::program {

/// The calling thread's mask is that of the program, before threads of this library block anything.
void note_programs_mask() noexcept;
/// The calling thread blocks what the program does not.
void note_own_mask() noexcept;
/// Blocks signals of the process in the calling thread, but for faults, from now on.
void block_signals() noexcept;
/// What a thread of the program blocks that the calling thread makes.
[[nodiscard]] sigset_t mask_to_inherit() noexcept;

/// As long as this lives, the calling thread blocks what the program does: a child inherits it.
class programs_mask {
 public:
  programs_mask() noexcept;
  programs_mask(const programs_mask&) = delete;
  programs_mask& operator=(const programs_mask&) = delete;
  ~programs_mask();

 private:
  os::signal_bits before_;
};

}  // namespace quire::program
