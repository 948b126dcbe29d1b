// SPDX-License-Identifier: BSD-3-Clause
// pthread_cancel(3) of the program's threads is Quire's affair: libc would unwind them from within a fault, from calls
// that are made on another node, and by a signal whose frame the kernel cannot put on a shared stack. So libc cancels
// none of them; they look themselves.
#pragma once

#include <errno.h>
#include <signal.h>

#include <cstdint>

#include "os/signals_held.hpp"
#include "program/posix/memory/callers.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/interpose.hpp"

namespace quire::program {

struct desk;

/// make(), which makes a thread without a record, or gives an error: pthread_cancel(3) finds it by `handle` then.
int make_known(own_thread& self, const pthread_t& handle, int (*make)(void*), void* at) noexcept;
/// The same for one that has.
void note_own(own_thread& self) noexcept;
/// The calling thread begins, and libc is not to cancel it; ends.
void leave_cancellation_to_us() noexcept;
void forget_own(own_thread& self) noexcept;

/// Threads of this node that make_known() or note_own() has told of: none begins or ends as long as this lives, and the
/// caller has no signals.
class known_threads {
 public:
  known_threads() noexcept;
  known_threads(const known_threads&) = delete;
  known_threads& operator=(const known_threads&) = delete;
  ~known_threads();
  /// Null: it is none of them.
  [[nodiscard]] own_thread* find(pthread_t thread) const noexcept;

 private:
  os::signals_held none_;
};

/// The flags of the program's handler; -1: it has none.
[[nodiscard]] int flags_of_handler(int number) noexcept;

/// What others see of the call that a thread is in. A handler may make another one within it: that is the one to end
/// then, and the outer one is seen again after it. One that a handler has left by siglongjmp(3) is not seen by the
/// next.
struct seen_call {
  desk* asked = nullptr;
  std::uint64_t turn_of = 0;
  bool restarts = true;
};
inline seen_call hide_outer_call(own_thread& self) noexcept {
  const seen_call outer{self.asked.load(), self.turn_of.load(), self.restarts.load()};
  if (outer.asked != nullptr) self.asked.store(nullptr);
  if (!outer.restarts) self.restarts.store(true);
  return outer;
}
inline void show_outer_call(own_thread& self, const seen_call& outer) noexcept {
  if (!outer.restarts) self.restarts.store(false);
  if (outer.asked == nullptr) return;
  self.turn_of.store(outer.turn_of);
  self.asked.store(outer.asked);
}

/// A call that may be a cancellation point, from its beginning to its end: it is made first of all. `is_none`: it is
/// not, and throws nothing.
template <bool is_none = false>
class cancellation_point {
 public:
  /// Who serves a fault must not look.
  explicit cancellation_point(const void* caller, bool is_one = true)
      : self_(is_one && own() != nullptr && for_program(caller) ? own() : nullptr) {
    if (self_ == nullptr) return;
    outer_ = hide_outer_call(*self_);
    self_->call.begin(0);  // before the look: who cancels the thread from now on ends the call
    if (!is_cancelled_here()) return;
    (void)self_->call.end();
    look_at_cancellation();
  }
  cancellation_point(const cancellation_point&) = delete;
  cancellation_point& operator=(const cancellation_point&) = delete;
  /// What a call has done stays done: only one that was ended is no more.
  ~cancellation_point() noexcept(false) {
    if (self_ == nullptr) return;
    show_outer_call(*self_, outer_);
    if (self_->call.end() && errno == EINTR) look_at_cancellation();
  }

 private:
  own_thread* self_;
  seen_call outer_;
};

template <>
class cancellation_point<true> {
 public:
  explicit cancellation_point(const void*) noexcept {}
};

/// The call that the thread is in is one that waits for descriptors: SA_RESTART is not for those (signal(7)). It is
/// made under a mask of the program's, if that gives one; by the thread's clerk, which has none of these signals. The
/// thread holds all signals until others see the clerk's call: so each that the mask lets in ends that call.
class wait_elsewhere {
 public:
  explicit wait_elsewhere(const sigset_t* mask = nullptr) noexcept;
  wait_elsewhere(const wait_elsewhere&) = delete;
  wait_elsewhere& operator=(const wait_elsewhere&) = delete;
  ~wait_elsewhere();
  /// The mask has let in signals that have handlers: the call is over, by EINTR, and is not made.
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  /// The mask holds from now on.
  void open() noexcept;

 private:
  own_thread* self_;
  bool changes_, is_over_ = false, restarts_ = true;
  sigset_t wanted_{};
  os::signal_bits before_ = 0;
};

/// The call that the thread is in is made by a clerk (posix/errands/errand.hpp), as long as this lives. A mask that is
/// to hold for it (wait_elsewhere) holds from now on.
class made_by_clerk {
 public:
  made_by_clerk(int node, desk& at) noexcept;
  made_by_clerk(const made_by_clerk&) = delete;
  made_by_clerk& operator=(const made_by_clerk&) = delete;
  ~made_by_clerk();
  /// As wait_elsewhere has it.
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }

 private:
  own_thread* self_;
  seen_call outer_;
  bool is_over_ = false;
};

}  // namespace quire::program
