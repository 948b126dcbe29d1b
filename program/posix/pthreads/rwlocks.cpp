// SPDX-License-Identifier: BSD-3-Clause
// Locks of pthreads for many readers or one writer, and what runs once, in shared memory; others are libc's. Readers go
// first, as with libc.
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "program/posix/errands/locks.hpp"
#include "program/posix/errands/output.hpp"
#include "program/process/interpose.hpp"
#include "program/process/waiting.hpp"

using namespace quire::program;

namespace {

struct rwlock {
  std::uint32_t readers;  ///< or `writer`
  std::uint32_t owner;    ///< the writer's number
};
constexpr std::uint32_t writer = 1u << 31;
rwlock& of(pthread_rwlock_t* l) noexcept { return *reinterpret_cast<rwlock*>(l); }

bool take_to_read(rwlock& l) noexcept {
  const std::uint32_t now = load(l.readers);
  return now != writer && swap(l.readers, now, now + 1);
}
bool take_to_write(rwlock& l) noexcept {
  if (load(l.readers) != 0 || !swap(l.readers, 0, writer)) return false;
  __atomic_store_n(&l.owner, number_of_thread(), __ATOMIC_RELAXED);
  return true;
}
bool is_mine(const rwlock& l) noexcept {
  return load(l.readers) == writer && __atomic_load_n(&l.owner, __ATOMIC_RELAXED) == number_of_thread();
}

int read_lock(rwlock& l, const deadline& end) noexcept {
  if (is_mine(l)) return EDEADLK;
  if (!end.is_valid()) return EINVAL;
  return wait_until([&] { return take_to_read(l); }, end) ? 0 : ETIMEDOUT;
}
int write_lock(rwlock& l, const deadline& end) noexcept {
  if (is_mine(l)) return EDEADLK;
  if (!end.is_valid()) return EINVAL;
  return wait_until([&] { return take_to_write(l); }, end) ? 0 : ETIMEDOUT;
}
int unlock(rwlock& l) noexcept {
  write_output();
  if (load(l.readers) == writer) {
    __atomic_store_n(&l.owner, 0, __ATOMIC_RELAXED);
    store(l.readers, 0);
  } else {
    __atomic_fetch_sub(&l.readers, 1, __ATOMIC_ACQ_REL);
  }
  return 0;
}
int busy_unless(bool taken) noexcept { return taken ? 0 : EBUSY; }

/// libc has the same numbers for "made".
enum once : std::uint32_t { untouched = 0, begun = 1, made = 2 };

int run_once(std::uint32_t& state, void (*body)()) {
  for (;;) {
    if (load(state) == made) return 0;
    if (swap(state, untouched, begun)) break;
    (void)!wait_until([&] { return load(state) != begun; });
  }
  struct back {
    std::uint32_t& state;
    once after = untouched;  ///< an exception
    ~back() { store(state, after); }
  } end{state};
  body();
  end.after = made;
  return 0;
}

}  // namespace

#define QUIRE_RWLOCK(name, parameters, arguments, call) \
  QUIRE_LIBC int name parameters noexcept { return is_for_all_nodes(l) ? call : QUIRE_NEXT(name) arguments; }
QUIRE_RWLOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l), read_lock(of(l), {}))
QUIRE_RWLOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l), write_lock(of(l), {}))
QUIRE_RWLOCK(pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), (l), busy_unless(take_to_read(of(l))))
QUIRE_RWLOCK(pthread_rwlock_trywrlock, (pthread_rwlock_t * l), (l), busy_unless(take_to_write(of(l))))
QUIRE_RWLOCK(pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const timespec* until), (l, until),
             read_lock(of(l), {until, CLOCK_REALTIME}))
QUIRE_RWLOCK(pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const timespec* until), (l, until),
             write_lock(of(l), {until, CLOCK_REALTIME}))
QUIRE_RWLOCK(pthread_rwlock_clockrdlock, (pthread_rwlock_t * l, clockid_t clock, const timespec* until),
             (l, clock, until), read_lock(of(l), {until, clock}))
QUIRE_RWLOCK(pthread_rwlock_clockwrlock, (pthread_rwlock_t * l, clockid_t clock, const timespec* until),
             (l, clock, until), write_lock(of(l), {until, clock}))
QUIRE_RWLOCK(pthread_rwlock_unlock, (pthread_rwlock_t * l), (l), unlock(of(l)))

QUIRE_LIBC int pthread_once(pthread_once_t* state, void (*body)()) {
  return is_for_all_nodes(state) ? run_once(*reinterpret_cast<std::uint32_t*>(state), body)
                                 : QUIRE_NEXT(pthread_once)(state, body);
}
QUIRE_LIBC void call_once(once_flag* state, void (*body)()) {
  (void)::pthread_once(reinterpret_cast<pthread_once_t*>(state), body);
}
