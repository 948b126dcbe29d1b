// SPDX-License-Identifier: BSD-3-Clause
// pthread_cancel(3) of the program's threads is Quire's affair: libc would unwind them from within a fault, from calls
// that are made on another node, and by a signal whose frame the kernel cannot put on a shared stack. So libc cancels
// none of them; they look themselves.
#pragma once

#include "openmp/libc/interpose.hpp"
#include "openmp/memory/heap.hpp"
#include "openmp/threads/own_threads.hpp"

namespace quire::openmp {

/// make(), which makes a thread without a record, or gives an error: pthread_cancel(3) finds it by `handle` then.
int make_known(own_thread& self, const pthread_t& handle, int (*make)(void*), void* at) noexcept;
/// The calling thread begins, and libc is not to cancel it; ends.
void leave_cancellation_to_us() noexcept;
void forget_own(own_thread& self) noexcept;

/// In a function that may be a cancellation point, before it does anything. `is_none`: it is not, and throws nothing.
template <bool is_none = false>
inline void look_before(const void* caller) noexcept(is_none) {
  if constexpr (!is_none) {
    if (own() != nullptr && for_program(caller)) look_at_cancellation();  // who serves a fault must not look
  }
}

}  // namespace quire::openmp
