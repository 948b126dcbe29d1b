// SPDX-License-Identifier: BSD-3-Clause
// Mutexes of pthreads, and so of C++ and C11, in shared memory: threads of all nodes exclude each other. Others are
// libc's. The object has libc's own layout, and is as libc has it while nobody holds it: what initialises and destroys
// it stays libc's.
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include <atomic>

#include "program/job/job.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/posix/errands/output.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/mapped/files.hpp"
#include "program/posix/pthreads/robust.hpp"
#include "program/posix/threads/records.hpp"
#include "program/process/image/image.hpp"
#include "program/process/interpose.hpp"
#include "program/process/waiting.hpp"
#include "program/process/watch/demotion.hpp"

namespace quire::program {

bool is_for_all_nodes(const void* object) noexcept {
  if (!in_heap(object) && !in_static_data(object) && !mapped::may_have(object)) return false;
  watch::before_update(object);
  return true;
}

std::uint32_t number_of_thread() noexcept {
  static constinit std::atomic<std::uint32_t> g_next{1};
  thread_local constinit std::uint32_t t_number = 0;
  constexpr unsigned node_shift = 16;
  if (t_number == 0) t_number = number_of_own();
  if (t_number == 0) t_number = static_cast<std::uint32_t>(job().node) << node_shift | g_next.fetch_add(1);
  return t_number;
}

}  // namespace quire::program

using namespace quire::program;

namespace {

struct mutex {
  std::uint32_t held, depth, owner, was_left;
  int kind;

  [[nodiscard]] int type() const noexcept { return kind & 3; }
  [[nodiscard]] bool is_robust() const noexcept { return (kind & 16) != 0; }
  [[nodiscard]] bool is_mine() const noexcept {
    return __atomic_load_n(&owner, __ATOMIC_RELAXED) == number_of_thread();
  }
  [[nodiscard]] bool knows_owner() const noexcept {
    return type() == PTHREAD_MUTEX_RECURSIVE || type() == PTHREAD_MUTEX_ERRORCHECK;
  }
};
mutex& of(pthread_mutex_t* m) noexcept { return *reinterpret_cast<mutex*>(m); }

constexpr std::uint32_t number(mutex_state s) noexcept { return static_cast<std::uint32_t>(s); }

/// 0, EOWNERDEAD, or why not; EAGAIN: it is another thread's.
int seize(mutex& m) noexcept {
  const std::uint32_t now = load(m.held);
  if (now == number(mutex_state::lost) && m.is_robust()) return ENOTRECOVERABLE;
  if (now == number(mutex_state::held) || !swap(m.held, now, number(mutex_state::held))) return EAGAIN;
  __atomic_store_n(&m.owner, number_of_thread(), __ATOMIC_RELAXED);
  m.depth = 1;
  if (!m.is_robust()) return 0;
  hold_robustly(&m);
  if (now != number(mutex_state::left)) return 0;
  m.was_left = 1;
  return EOWNERDEAD;
}

/// The same. Who has it already may have it again.
int take(mutex& m) noexcept {
  if (m.knows_owner() && m.is_mine()) {
    if (m.type() == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
    ++m.depth;
    return 0;
  }
  return seize(m);
}

int lock(mutex& m, const deadline& end) noexcept {
  int result = take(m);
  if (result != EAGAIN) return result;
  if (!end.is_valid()) return EINVAL;
  return wait_until([&] { return (result = take(m)) != EAGAIN; }, end) ? result : ETIMEDOUT;
}

int try_lock(mutex& m) noexcept {
  const int result = take(m);
  return result == EAGAIN || result == EDEADLK ? EBUSY : result;
}

int unlock(mutex& m) noexcept {
  if ((m.knows_owner() || m.is_robust()) && !m.is_mine()) return EPERM;
  if (m.type() == PTHREAD_MUTEX_RECURSIVE && --m.depth != 0) return 0;
  write_output();
  m.depth = 0;
  __atomic_store_n(&m.owner, 0, __ATOMIC_RELAXED);
  if (m.is_robust()) let_go_robustly(&m);
  const bool is_lost = m.is_robust() && m.was_left != 0;
  m.was_left = 0;
  store(m.held, number(is_lost ? mutex_state::lost : mutex_state::free));
  return 0;
}

int make_consistent(mutex& m) noexcept {
  if (!m.is_robust() || !m.is_mine() || m.was_left == 0) return EINVAL;
  m.was_left = 0;
  return 0;
}

pthread_mutex_t* of(mtx_t* m) noexcept { return reinterpret_cast<pthread_mutex_t*>(m); }
int in_c11(int error) noexcept {
  return error == 0           ? thrd_success
         : error == EBUSY     ? thrd_busy
         : error == ETIMEDOUT ? thrd_timedout
         : error == ENOMEM    ? thrd_nomem
                              : thrd_error;
}

}  // namespace

QUIRE_LIBC int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  return is_for_all_nodes(m) ? lock(of(m), {}) : QUIRE_NEXT(pthread_mutex_lock)(m);
}
QUIRE_LIBC int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  return is_for_all_nodes(m) ? try_lock(of(m)) : QUIRE_NEXT(pthread_mutex_trylock)(m);
}
QUIRE_LIBC int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* until) noexcept {
  return is_for_all_nodes(m) ? lock(of(m), {until, CLOCK_REALTIME}) : QUIRE_NEXT(pthread_mutex_timedlock)(m, until);
}
QUIRE_LIBC int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock, const timespec* until) noexcept {
  return is_for_all_nodes(m) ? lock(of(m), {until, clock}) : QUIRE_NEXT(pthread_mutex_clocklock)(m, clock, until);
}
QUIRE_LIBC int pthread_mutex_unlock(pthread_mutex_t* m) noexcept {
  return is_for_all_nodes(m) ? unlock(of(m)) : QUIRE_NEXT(pthread_mutex_unlock)(m);
}

QUIRE_LIBC int pthread_mutex_consistent(pthread_mutex_t* m) noexcept {
  return is_for_all_nodes(m) ? make_consistent(of(m)) : QUIRE_NEXT(pthread_mutex_consistent)(m);
}

QUIRE_LIBC int mtx_lock(mtx_t* m) { return in_c11(::pthread_mutex_lock(of(m))); }
QUIRE_LIBC int mtx_trylock(mtx_t* m) { return in_c11(::pthread_mutex_trylock(of(m))); }
QUIRE_LIBC int mtx_timedlock(mtx_t* m, const timespec* until) {
  return in_c11(::pthread_mutex_timedlock(of(m), until));
}
QUIRE_LIBC int mtx_unlock(mtx_t* m) { return in_c11(::pthread_mutex_unlock(of(m))); }
