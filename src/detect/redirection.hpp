// SPDX-License-Identifier: BSD-3-Clause
// The way out of a fault to another place than the access: what a signal has interrupted goes on in a function that
// never returns. For transactions that begin anew (os::restart_point). Async-signal-safe.
#pragma once

#include <ucontext.h>

namespace quire::detect {

/// Where a thread goes on after a fault instead of trying the access again. Runs on that thread, not in a handler, and
/// never returns.
using redirection = void (*)() noexcept;

/// From now on `ask` is asked at the end of each fault that the handler of install_signals() has taken, on the thread
/// that faulted, still in the signal's handler: null lets it try the access again, else it goes on in the function that
/// is given. That may fault itself, and `ask` is asked again: it gives a function once, and null until the thread is
/// where it shall be. Nobody is asked at the end of a fault within a fault, in a handler of the program that came while
/// the outer fault waited (signals_let_in). Null: nobody is asked. Any thread.
void redirect_faults_by(redirection (*ask)() noexcept) noexcept;

/// When the signal's handler returns, the interrupted thread calls `to` as if by a call at that place: on its stack
/// below what the interrupted function keeps beyond its stack pointer, with the signal mask of the interrupted code,
/// and with registers as a call has them (direction flag clear, no x87 value, no upper half of a vector). A thread
/// whose stack is in shared memory calls it on a private one, as there may be no page for its frame. `to` has nowhere
/// to return to.
void redirect(ucontext_t& interrupted, redirection to) noexcept;

}  // namespace quire::detect
