// SPDX-License-Identifier: BSD-3-Clause
// What the program has done with signals before the start of the job, and what it blocks.
#pragma once

#include <signal.h>

namespace quire::api::calls {

/// After the start, in its thread: handlers that are there count as if they were installed now, and neither they nor
/// this thread block SIGSEGV and SIGBUS.
void take_over_signals() noexcept;

/// Of a set of signals: those that a thread may block, also as the mask of a call that waits, during which handlers
/// run.
struct harmless {
  explicit harmless(const sigset_t* set) noexcept;
  sigset_t kept{};
  const sigset_t* use = nullptr;  ///< null where no set was given
};
[[nodiscard]] sigset_t without_faults(const sigset_t& set) noexcept;
/// sigprocmask(2), of sets anywhere.
[[nodiscard]] int change_mask(int how, const sigset_t* set, sigset_t* before) noexcept;

}  // namespace quire::api::calls
