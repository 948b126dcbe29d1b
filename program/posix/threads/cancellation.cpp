// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/threads/cancellation.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "program/posix/threads/desk.hpp"
#include "program/process/interpose.hpp"

namespace quire::program {
namespace {

constinit std::mutex g_known_guard;
constinit own_thread* g_known = nullptr;  ///< threads of this node

constinit std::atomic<std::uint32_t> g_turns{0};  ///< of calls that clerks make for this node
/// The kernel writes private memory.
thread_local struct sigaction t_action;
thread_local os::signal_bits t_pending = 0;
thread_local wait_elsewhere* t_waits = nullptr;  ///< its mask does not hold yet

/// Whether a handler runs as soon as a mask holds, where all signals are held.
bool lets_in_handlers(const sigset_t& mask) noexcept {
  t_pending = 0;
  (void)QUIRE_NEXT(syscall)(SYS_rt_sigpending, &t_pending, sizeof t_pending);
  const os::signal_bits come = t_pending & ~os::bits_of(mask);
  for (int number = 1; number < NSIG && come != 0; ++number) {
    if ((come & os::signal_bit(number)) != 0 && flags_of_handler(number) != -1) return true;
  }
  return false;
}

}  // namespace

known_threads::known_threads() noexcept { g_known_guard.lock(); }
known_threads::~known_threads() { g_known_guard.unlock(); }
own_thread* known_threads::find(pthread_t thread) const noexcept {
  own_thread* t = g_known;
  while (t != nullptr && ::pthread_equal(t->handle, thread) == 0) t = t->next;
  return t;
}

int flags_of_handler(int number) noexcept {
  if (number <= 0 || ::sigaction(number, nullptr, &t_action) != 0) return -1;
  return t_action.sa_handler == SIG_DFL || t_action.sa_handler == SIG_IGN ? -1 : t_action.sa_flags;
}

int make_known(own_thread& self, const pthread_t& handle, int (*make)(void*), void* at) noexcept {
  const os::signals_held none;
  const std::lock_guard held(g_known_guard);  // also if it ends at once
  if (const int error = make(at); error != 0) return error;
  self.handle = handle;
  self.next = g_known;
  g_known = &self;
  return 0;
}

void note_own(own_thread& self) noexcept {
  (void)make_known(
      self, ::pthread_self(), [](void*) { return 0; }, nullptr);
}

void leave_cancellation_to_us() noexcept { (void)QUIRE_NEXT(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, nullptr); }

void forget_own(own_thread& self) noexcept {
  const std::lock_guard held(g_known_guard);
  own_thread** at = &g_known;
  while (*at != nullptr && *at != &self) at = &(*at)->next;
  if (*at != nullptr) *at = self.next;
}

wait_elsewhere::wait_elsewhere(const sigset_t* mask) noexcept : self_(own()), changes_(mask != nullptr) {
  if (self_ != nullptr) restarts_ = self_->restarts.exchange(false);
  if (!changes_) return;
  wanted_ = *mask;
  before_ = os::hold_signals();
  t_waits = this;
  if (lets_in_handlers(wanted_)) open();
}

void wait_elsewhere::open() noexcept {
  t_waits = nullptr;
  is_over_ = lets_in_handlers(wanted_);
  (void)::pthread_sigmask(SIG_SETMASK, &wanted_, nullptr);
}

wait_elsewhere::~wait_elsewhere() {
  const int saved = errno;
  if (t_waits == this) t_waits = nullptr;
  if (changes_) (void)os::change_signal_mask(SIG_SETMASK, before_);
  if (self_ != nullptr) self_->restarts.store(restarts_);
  errno = is_over_ ? EINTR : saved;
}

made_by_clerk::made_by_clerk(int node, desk& at) noexcept : self_(own()) {
  __atomic_store_n(&at.turn, g_turns.fetch_add(1) + 1, __ATOMIC_RELEASE);  // no other call of this node has it
  if (self_ != nullptr && !self_->call.is_inside()) self_ = nullptr;
  if (self_ != nullptr) {
    outer_ = {self_->asked.exchange(nullptr), self_->turn_of.load(), true};
    self_->turn_of.store(static_cast<std::uint64_t>(node) << 32 | at.turn);
    self_->asked.store(&at);
  }
  if (t_waits == nullptr) return;
  const wait_elsewhere& waits = *t_waits;
  t_waits->open();
  is_over_ = waits.is_over();
  if (is_over_) __atomic_store_n(&at.turn, 0, __ATOMIC_RELEASE);  // nobody has to wait for its beginning
}

made_by_clerk::~made_by_clerk() {
  if (self_ == nullptr) return;
  self_->asked.store(nullptr);
  show_outer_call(*self_, outer_);
}

}  // namespace quire::program
