// SPDX-License-Identifier: BSD-3-Clause
// What of the program runs at its end, handlers and destructors, runs on a shared stack as the rest of it does: threads
// of other nodes may still be at work with what it allocates, and with its local variables. exit(3) itself runs on the
// private stack, as the shared one goes before it returns.
#pragma once

#include <cstddef>

namespace quire::program {

/// Node 0, at the start: a stack for exit(3) in a thread that has none of its own, as the watcher and handlers of
/// signals.
void open_exit_stack() noexcept;
/// The calling thread is about to call libc's exit(3), and has a shared stack that is free below `top`.
void end_below(std::byte* top) noexcept;
/// Calls what(at) there, from within libc's exit(3). In a thread that has no such stack it is on that of the
/// start.
void call_at_end(void (*what)(void*), void* at);

}  // namespace quire::program
