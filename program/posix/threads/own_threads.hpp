// SPDX-License-Identifier: BSD-3-Clause
// Threads that the program makes itself, by pthreads, C11 or C++.
#pragma once

#include <pthread.h>

#include "program/posix/threads/records.hpp"

namespace quire::program {

/// Threads of this node that the program has made itself, and that have not ended.
[[nodiscard]] int own_threads() noexcept;
/// As pthread_create(3), for a call of the program (for_program()).
[[nodiscard]] int make_own_thread(pthread_t* thread, const pthread_attr_t* about, void* (*body)(void*),
                                  void* argument) noexcept;

/// The same on this node, and from any stack.
[[nodiscard]] int make_own_thread_here(pthread_t* thread, const pthread_attr_t* about, void* (*body)(void*),
                                       void* argument) noexcept;

/// On the shared stack, at the end of a thread: destructors of its thread_local objects and thread-specific data.
void run_last_calls(own_thread& self);
void destroy_values(own_thread& self);
/// main() has called pthread_exit(3): others go on; the program ends with the last of them. On main()'s stack.
[[noreturn]] void end_after_others(own_thread& self);
/// libc unwinds a thread that ends by libgcc's unwinder. Where a program has another one (LLVM's libunwind, as of
/// libc++), its personality routine, which is that of Quire's frames too, takes nothing from libgcc's: natively a
/// thread ends well then if no frame of it has destructors. Here it jumps to its beginning: destructors of its frames
/// and C cleanup handlers (pthread_cleanup_push(3)) do not run.
[[nodiscard]] bool ends_by_jump() noexcept;
/// The caller's pthread_exit(3).
[[noreturn]] void leave_thread(void* result);

/// Ends the caller by pthread_exit(3) if somebody has cancelled it, and it allows that. What waits looks whether it is
/// to stop.
void look_at_cancellation();
[[nodiscard]] bool is_cancelled_here() noexcept;

}  // namespace quire::program
