// SPDX-License-Identifier: BSD-3-Clause
// pthread_cancel(3) of threads on all nodes: a thread is cancelled where it waits for others, sleeps, or asks
// (pthread_testcancel(3)), and where it begins a call that is a cancellation point; not within calls that the kernel
// keeps it in, such as read(2), nor at any instruction. Threads of libraries, of teams, and main() of a program with
// OpenMP are libc's affair.
#include "openmp/threads/cancellation.hpp"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <limits>
#include <mutex>

#include "openmp/memory/heap.hpp"
#include "openmp/threads/of_node.hpp"
#include "openmp/threads/waiting.hpp"

using namespace quire::openmp;

namespace {

constinit std::mutex g_known_guard;
constinit own_thread* g_known = nullptr;  ///< threads of this node without records

/// On its node. False: it is none of these.
bool mark(pthread_t thread) noexcept {
  const std::lock_guard held(g_known_guard);
  for (own_thread* t = g_known; t != nullptr; t = t->next) {
    if (::pthread_equal(t->handle, thread) == 0) continue;
    __atomic_store_n(&t->cancelled, 1, __ATOMIC_RELEASE);
    return true;
  }
  return false;
}

int exchange(int& state, int wanted, int* before, int one, int other) noexcept {
  if (wanted != one && wanted != other) return EINVAL;
  if (before != nullptr) *before = state;
  state = wanted;
  return 0;
}

constexpr long ns_of_second = 1'000'000'000;
bool is_before(const timespec& a, const timespec& b) noexcept {
  return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}
timespec sum(const timespec& a, const timespec& b) noexcept {
  constexpr time_t never = std::numeric_limits<time_t>::max() - 1;
  timespec s{0, a.tv_nsec + b.tv_nsec};
  if (__builtin_add_overflow(a.tv_sec, b.tv_sec, &s.tv_sec) || s.tv_sec > never) return {never, 0};
  if (s.tv_nsec >= ns_of_second) ++s.tv_sec, s.tv_nsec -= ns_of_second;
  return s;
}
timespec difference(const timespec& a, const timespec& b) noexcept {
  timespec d{a.tv_sec - b.tv_sec, a.tv_nsec - b.tv_nsec};
  if (d.tv_nsec < 0) --d.tv_sec, d.tv_nsec += ns_of_second;
  return d;
}

/// In short sleeps, between which the caller may be cancelled. An error number.
int sleep_until(clockid_t clock, const timespec& end) {
  static constexpr timespec slice{0, 20'000'000};
  for (;;) {
    look_at_cancellation();
    timespec now{};
    if (::clock_gettime(clock, &now) != 0) return errno;
    if (!is_before(now, end)) return 0;
    const timespec next = sum(now, slice);
    if (const int error =
            QUIRE_NEXT(clock_nanosleep)(clock, TIMER_ABSTIME, is_before(next, end) ? &next : &end, nullptr);
        error != 0)
      return error;
  }
}

bool is_time(const timespec& t) noexcept { return t.tv_sec >= 0 && t.tv_nsec >= 0 && t.tv_nsec < ns_of_second; }

int sleep_for(clockid_t clock, const timespec& wanted, timespec* left) {
  if (!is_time(wanted)) return EINVAL;
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return errno;
  const timespec end = sum(now, wanted);
  const int error = sleep_until(clock, end);
  if (error == EINTR && left != nullptr && ::clock_gettime(clock, &now) == 0)
    *left = is_before(now, end) ? difference(end, now) : timespec{};
  return error;
}

int with_errno(int error) noexcept {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace

namespace quire::openmp {

int make_known(own_thread& self, const pthread_t& handle, int (*make)(void*), void* at) noexcept {
  const std::lock_guard held(g_known_guard);  // also if it ends at once
  if (const int error = make(at); error != 0) return error;
  self.handle = handle;
  self.next = g_known;
  g_known = &self;
  return 0;
}

void leave_cancellation_to_us() noexcept { (void)QUIRE_NEXT(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, nullptr); }

void forget_own(own_thread& self) noexcept {
  const std::lock_guard held(g_known_guard);
  own_thread** at = &g_known;
  while (*at != nullptr && *at != &self) at = &(*at)->next;
  if (*at != nullptr) *at = self.next;
}

}  // namespace quire::openmp

QUIRE_LIBC int pthread_cancel(pthread_t thread) {
  const thread_place at = place_of(thread);
  if (at.node < 0) return at_node_of(thread, [=] { return mark(thread) ? 0 : QUIRE_NEXT(pthread_cancel)(thread); });
  thread_record& r = record_of(at.node, at.number);
  if (load(r.now) == 0) return ESRCH;
  __atomic_fetch_or(&r.now, thread_record::cancelled, __ATOMIC_ACQ_REL);
  return 0;
}
QUIRE_LIBC void pthread_testcancel() {
  if (own() == nullptr) return QUIRE_NEXT(pthread_testcancel)();
  look_at_cancellation();
}
QUIRE_LIBC int pthread_setcancelstate(int state, int* before) {
  own_thread* const self = own();
  if (self == nullptr) return QUIRE_NEXT(pthread_setcancelstate)(state, before);
  return exchange(self->cancel_state, state, before, PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DISABLE);
}
QUIRE_LIBC int pthread_setcanceltype(int type, int* before) {
  own_thread* const self = own();
  if (self == nullptr) return QUIRE_NEXT(pthread_setcanceltype)(type, before);
  static std::atomic<bool> told{false};
  if (type == PTHREAD_CANCEL_ASYNCHRONOUS && !told.exchange(true)) {
    fputs(
        "quire: threads: PTHREAD_CANCEL_ASYNCHRONOUS is as PTHREAD_CANCEL_DEFERRED: threads are cancelled where they "
        "wait, sleep or ask\n",
        stderr);
  }
  return exchange(self->cancel_type, type, before, PTHREAD_CANCEL_DEFERRED, PTHREAD_CANCEL_ASYNCHRONOUS);
}

/// Not of Quire, in a thread of the program.
static bool sleeps(const void* caller) noexcept { return own() != nullptr && for_program(caller); }

QUIRE_LIBC int nanosleep(const timespec* wanted, timespec* left) {
  if (!sleeps(QUIRE_CALLER)) return QUIRE_NEXT(nanosleep)(wanted, left);
  return with_errno(sleep_for(CLOCK_MONOTONIC, *wanted, left));
}
QUIRE_LIBC int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted, timespec* left) {
  if (!sleeps(QUIRE_CALLER) || flags > TIMER_ABSTIME || clock == CLOCK_THREAD_CPUTIME_ID)
    return QUIRE_NEXT(clock_nanosleep)(clock, flags, wanted, left);
  if (flags == 0) return sleep_for(clock, *wanted, left);
  return is_time(*wanted) ? sleep_until(clock, *wanted) : EINVAL;
}
QUIRE_LIBC int usleep(useconds_t us) {
  constexpr useconds_t second = 1'000'000;
  const timespec wanted{us / second, static_cast<long>(us % second) * 1000};
  return sleeps(QUIRE_CALLER) ? with_errno(sleep_for(CLOCK_MONOTONIC, wanted, nullptr)) : QUIRE_NEXT(usleep)(us);
}
QUIRE_LIBC unsigned sleep(unsigned seconds) {
  const timespec wanted{seconds, 0};
  timespec left{};
  if (!sleeps(QUIRE_CALLER)) return QUIRE_NEXT(sleep)(seconds);
  return sleep_for(CLOCK_MONOTONIC, wanted, &left) == 0
             ? 0
             : static_cast<unsigned>(left.tv_sec) + (left.tv_nsec >= ns_of_second / 2 ? 1u : 0u);
}
QUIRE_LIBC int thrd_sleep(const timespec* wanted, timespec* left) {
  if (!sleeps(QUIRE_CALLER)) return QUIRE_NEXT(thrd_sleep)(wanted, left);
  const int error = sleep_for(CLOCK_MONOTONIC, *wanted, left);
  return error == 0 ? 0 : error == EINTR ? -1 : -2;
}
