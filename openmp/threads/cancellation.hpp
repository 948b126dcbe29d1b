// SPDX-License-Identifier: BSD-3-Clause
// pthread_cancel(3) of the program's threads is Quire's affair: libc would unwind them from within a fault, from calls
// that are made on another node, and by a signal whose frame the kernel cannot put on a shared stack. So libc cancels
// none of them; they look themselves.
#pragma once

#include <errno.h>
#include <signal.h>

#include "openmp/libc/interpose.hpp"
#include "openmp/memory/heap.hpp"
#include "openmp/threads/own_threads.hpp"

namespace quire::openmp {

struct desk;

/// make(), which makes a thread without a record, or gives an error: pthread_cancel(3) finds it by `handle` then.
int make_known(own_thread& self, const pthread_t& handle, int (*make)(void*), void* at) noexcept;
/// The same for one that has.
void note_own(own_thread& self) noexcept;
/// The calling thread begins, and libc is not to cancel it; ends.
void leave_cancellation_to_us() noexcept;
void forget_own(own_thread& self) noexcept;

/// A signal has been sent to a thread of this node. If it has a handler, the call that a clerk makes for the thread
/// ends by EINTR, unless SA_RESTART has it begin again; the kernel ends those that the thread makes itself.
void end_call_for_handler(pthread_t thread, int number) noexcept;

/// A call that may be a cancellation point, from its beginning to its end: it is made first of all. `is_none`: it is
/// not, and throws nothing.
template <bool is_none = false>
class cancellation_point {
 public:
  /// Who serves a fault must not look.
  explicit cancellation_point(const void* caller, bool is_one = true)
      : self_(is_one && own() != nullptr && for_program(caller) ? own() : nullptr) {
    if (self_ == nullptr) return;
    self_->call.begin(0);  // before the look: who cancels the thread from now on ends the call
    if (!is_cancelled_here()) return;
    (void)self_->call.end();
    look_at_cancellation();
  }
  cancellation_point(const cancellation_point&) = delete;
  cancellation_point& operator=(const cancellation_point&) = delete;
  /// What a call has done stays done: only one that was ended is no more.
  ~cancellation_point() noexcept(false) {
    if (self_ != nullptr && self_->call.end() && errno == EINTR) look_at_cancellation();
  }

 private:
  own_thread* self_;
};

template <>
class cancellation_point<true> {
 public:
  explicit cancellation_point(const void*) noexcept {}
};

/// The call that the thread is in is one that waits for descriptors: SA_RESTART is not for those (signal(7)). It is
/// made under a mask of the program's, if that gives one; by the thread's clerk, which has none of these signals.
class wait_elsewhere {
 public:
  explicit wait_elsewhere(const sigset_t* mask = nullptr) noexcept;
  wait_elsewhere(const wait_elsewhere&) = delete;
  wait_elsewhere& operator=(const wait_elsewhere&) = delete;
  ~wait_elsewhere();
  /// The mask has let in signals that the thread had blocked: the call is over, by EINTR.
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }

 private:
  bool changes_ = false, is_over_ = false;
  sigset_t before_{};
};

/// The call that the thread is in is made by a clerk (files/errand.hpp), as long as this lives.
class made_by_clerk {
 public:
  made_by_clerk(int node, desk& at) noexcept;
  made_by_clerk(const made_by_clerk&) = delete;
  made_by_clerk& operator=(const made_by_clerk&) = delete;
  ~made_by_clerk();

 private:
  own_thread* self_;
};

}  // namespace quire::openmp
