// SPDX-License-Identifier: BSD-3-Clause
// Condition variables and barriers of pthreads in shared memory, for threads of all nodes; others are
// libc's.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <quire/system.h>
#include <threads.h>

#include "program/posix/errands/output.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/interpose.hpp"
#include "program/process/waiting.hpp"

using namespace quire::program;

namespace {

// ---- Conditions. A signal wakes all: waiters must look at what they wait for anyway.

struct condition {
  std::uint32_t signals, waiters;
};
condition& of(pthread_cond_t* c) noexcept { return *reinterpret_cast<condition*>(c); }
/// libc keeps the clock that the condition was initialised with.
clockid_t clock_of(const pthread_cond_t* c) noexcept {
  return (c->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int wait(pthread_cond_t* at, pthread_mutex_t* m, const deadline& end) {
  if (!end.is_valid()) return EINVAL;
  look_at_cancellation();
  condition& c = of(at);
  __atomic_fetch_add(&c.waiters, 1, __ATOMIC_ACQ_REL);
  const std::uint32_t before = load(c.signals);
  if (const int error = ::pthread_mutex_unlock(m); error != 0) {
    __atomic_fetch_sub(&c.waiters, 1, __ATOMIC_ACQ_REL);
    return error;
  }
  (void)!wait_until([&] { return load(c.signals) != before || is_cancelled_here(); }, end);
  const bool signalled = load(c.signals) != before;
  __atomic_fetch_sub(&c.waiters, 1, __ATOMIC_ACQ_REL);
  const int error = ::pthread_mutex_lock(m);
  if (!signalled) look_at_cancellation();
  return error != 0 ? error : signalled ? 0 : ETIMEDOUT;
}

int signal(condition& c) noexcept {
  write_output();
  if (load(c.waiters) != 0) __atomic_fetch_add(&c.signals, 1, __ATOMIC_ACQ_REL);
  return 0;
}

// ---- Barriers, in libc's layout: how many have come, rounds, how many there are; and how many libc would call gone

struct barrier {
  std::uint32_t here, round, count, kind, inside;  ///< the last: threads that will look at it again
};

int wait(barrier& b) noexcept {
  write_output();
  __atomic_fetch_add(&b.inside, 1, __ATOMIC_ACQ_REL);
  const std::uint32_t round = load(b.round);
  const bool last = __atomic_add_fetch(&b.here, 1, __ATOMIC_ACQ_REL) == b.count;
  if (last) {
    store(b.here, 0);
    store(b.round, round + 1);
  } else {
    (void)!wait_until([&] { return load(b.round) != round; });
  }
  __atomic_fetch_sub(&b.inside, 1, __ATOMIC_ACQ_REL);
  quire_note_barrier();
  return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

pthread_cond_t* of(cnd_t* c) noexcept { return reinterpret_cast<pthread_cond_t*>(c); }
pthread_mutex_t* mutex_of(mtx_t* m) noexcept { return reinterpret_cast<pthread_mutex_t*>(m); }
int c11_result(int error) noexcept {
  return error == 0 ? thrd_success : error == ETIMEDOUT ? thrd_timedout : thrd_error;
}

}  // namespace

QUIRE_LIBC int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  return is_for_all_nodes(c) ? wait(c, m, {}) : QUIRE_NEXT(pthread_cond_wait)(c, m);
}
QUIRE_LIBC int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  return is_for_all_nodes(c) ? wait(c, m, {until, clock_of(c)}) : QUIRE_NEXT(pthread_cond_timedwait)(c, m, until);
}
QUIRE_LIBC int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const timespec* until) {
  return is_for_all_nodes(c) ? wait(c, m, {until, clock}) : QUIRE_NEXT(pthread_cond_clockwait)(c, m, clock, until);
}
QUIRE_LIBC int pthread_cond_signal(pthread_cond_t* c) noexcept {
  return is_for_all_nodes(c) ? signal(of(c)) : QUIRE_NEXT(pthread_cond_signal)(c);
}
QUIRE_LIBC int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
  return is_for_all_nodes(c) ? signal(of(c)) : QUIRE_NEXT(pthread_cond_broadcast)(c);
}
/// libc would take the counts for its own. Threads that were woken may still have to look.
QUIRE_LIBC int pthread_cond_destroy(pthread_cond_t* c) noexcept {
  if (!is_for_all_nodes(c)) return QUIRE_NEXT(pthread_cond_destroy)(c);
  (void)!wait_until([&] { return load(of(c).waiters) == 0; });
  return 0;
}
QUIRE_LIBC int cnd_wait(cnd_t* c, mtx_t* m) { return c11_result(::pthread_cond_wait(of(c), mutex_of(m))); }
QUIRE_LIBC int cnd_timedwait(cnd_t* c, mtx_t* m, const timespec* until) {
  return c11_result(::pthread_cond_timedwait(of(c), mutex_of(m), until));
}
QUIRE_LIBC int cnd_signal(cnd_t* c) { return c11_result(::pthread_cond_signal(of(c))); }
QUIRE_LIBC int cnd_broadcast(cnd_t* c) { return c11_result(::pthread_cond_broadcast(of(c))); }
QUIRE_LIBC void cnd_destroy(cnd_t* c) { (void)::pthread_cond_destroy(of(c)); }

QUIRE_LIBC int pthread_barrier_wait(pthread_barrier_t* b) noexcept {
  return is_for_all_nodes(b) ? wait(*reinterpret_cast<barrier*>(b)) : QUIRE_NEXT(pthread_barrier_wait)(b);
}

QUIRE_LIBC int pthread_barrier_destroy(pthread_barrier_t* b) noexcept {
  if (!is_for_all_nodes(b)) return QUIRE_NEXT(pthread_barrier_destroy)(b);
  (void)!wait_until([&] { return load(reinterpret_cast<barrier*>(b)->inside) == 0; });
  return 0;
}
