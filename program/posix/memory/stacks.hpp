// SPDX-License-Identifier: BSD-3-Clause
// Stacks in shared memory: what a thread has on its stack, others of its team use by pointer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::program {

/// Before the start of the job: threads may run what lies in memory that they have written, where the program or a
/// library needs that. Nested functions of GNU C and internal procedures of Fortran whose address is passed on are
/// called by code on the stack; libraries that compile as they run have code in anonymous memory (`quire exec
/// --openmp`). A thread of another node may call it: so all of the heap, in which both lie, can be run.
void allow_code_in_memory() noexcept;
/// Whether libraries may compile.
[[nodiscard]] bool compiles_in_memory() noexcept;

/// A stack of this node, in shared memory, for a thread that lasts as long as the job: its end. Ends the node if there
/// is none. An overflow ends it too, with a line that says what to raise.
[[nodiscard]] std::byte* make_stack(std::size_t bytes, const char* what_is_larger = "OMP_STACKSIZE") noexcept;
/// The same for other threads, which give it back.
[[nodiscard]] std::byte* take_stack(std::size_t bytes) noexcept;
void give_stack_back(std::byte* end, std::size_t bytes) noexcept;

/// Whether an address lies on a shared stack of this node.
[[nodiscard]] bool on_stack(std::uintptr_t address) noexcept;
/// That stack.
struct stack_range {
  std::uintptr_t first = 0, bytes = 0;  ///< 0: there is none
};
[[nodiscard]] stack_range stack_of(std::uintptr_t address) noexcept;

/// The calling thread is on its private stack, and about to leave it by call_on().
void remember_private_stack() noexcept;
/// Where it may go on there meanwhile: below the frames that it has left.
[[nodiscard]] std::byte* private_stack() noexcept;

/// Calls body(argument), on another stack of `bytes` if half of the caller's is used: tasks that wait for tasks may be
/// as deep as they like.
void call_with_room(std::size_t bytes, void (*body)(void*), void* argument) noexcept;

/// Calls body(argument) with the stack pointer at `top`. The frame pointer leads back, for debuggers, for exceptions
/// that nobody catches, and for the unwinding of pthread_exit(3).
void call_on(std::byte* top, void (*body)(void*), void* argument);

}  // namespace quire::program
