// SPDX-License-Identifier: BSD-3-Clause
// On which stack a fault is served. The kernel cannot put a signal's frame on a stack whose page is elsewhere, so the
// handlers run on an alternate one where a thread has it: the program's, or one of Quire's. Async-signal-safe.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

namespace quire::detect {

/// Threads may have stacks at these addresses: nothing of Quire's may run there.
void keep_off_stacks_at(bool (*shared)(std::uint64_t address) noexcept) noexcept;

/// Whether a stack pointer is at one of them.
[[nodiscard]] bool is_shared_stack(std::uintptr_t stack) noexcept;

/// The calling thread has an alternate stack afterwards, if there is memory; freed at its end. Not for handlers.
void give_alternate_stack() noexcept;
/// The same in a handler: from its return on.
void give_alternate_stack(ucontext_t& interrupted) noexcept;

/// The one that Quire has given to the calling thread, or a new one; of size 0 if there is no memory.
[[nodiscard]] stack_t given_alternate_stack() noexcept;

/// Whether the fault's handler runs on an alternate stack of the program's that is too small to serve a fault on.
[[nodiscard]] bool needs_roomy_stack(const ucontext_t& interrupted) noexcept;
/// Runs `body` here, or, where the program's alternate stack is small, on the stack that was interrupted.
void on_roomy_stack(const ucontext_t& interrupted, void (*body)(void*), void* argument) noexcept;

[[nodiscard]] inline std::uintptr_t stack_pointer(const ucontext_t& of) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(of.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return of.uc_mcontext.sp;
#else
#error "where does this processor keep the stack pointer?"
#endif
}

}  // namespace quire::detect
