// SPDX-License-Identifier: BSD-3-Clause
// Locks of pthread, C and POSIX in shared memory. Their words may be shared, but the kernel wakes threads of one node
// only, and neither knows of release consistency: such a lock seems to work until two nodes want it. The first use of
// each kind in a job of several nodes is a warning; the call is then made as it is. Application threads, signal
// handlers; std::mutex and its family come here too.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "runtime/range.hpp"
#include "libc/table.hpp"
#include "base/log.hpp"

using namespace quire::api::calls;

namespace {

/// A kind of object, and what takes its place.
struct kind {
  const char* plural;
  const char* instead;
  std::atomic<bool> told{false};
};
constinit kind g_mutex{"mutexes", "quire::mutex (quire_mutex_create)"};
constinit kind g_rwlock{"read-write locks", "quire::shared_mutex (quire_rwlock_create)"};
constinit kind g_condition{"conditions", "quire::condition_variable (quire_condition_create)"};
constinit kind g_barrier{"barriers", "quire::barrier (quire_barrier_create)"};
constinit kind g_spin{"spin locks", "quire::mutex (quire_mutex_create)"};
constinit kind g_semaphore{"semaphores", "quire::counting_semaphore (quire_semaphore_create)"};

[[gnu::cold, gnu::noinline]] void tell(kind& of, const char* function, const void* object) noexcept {
  if (of.told.load(std::memory_order_relaxed) || quire_nodes() == 1 || of.told.exchange(true)) return;
  quire::base::log(quire::base::log_level::warning,
                   "%s(%p): the object lies in shared memory, but %s of libc (std:: too) work between threads of one "
                   "node only; use %s",
                   function, object, of.plural, of.instead);
}

template <class Object, class... More>
inline int pass(row& of, kind& what, Object* object, More... more) {
  if (is_shared(const_cast<const void*>(static_cast<const volatile void*>(object)))) [[unlikely]]
    tell(what, of.name, const_cast<const void*>(static_cast<const volatile void*>(object)));
  auto* const real = real_of<int(Object*, More...)>(of);
  if (real == nullptr) [[unlikely]]
    return ENOSYS;
  return real(object, more...);
}

}  // namespace

/// A row that warns: the kind, the function as libc declares it, and its arguments in turn.
#define QUIRE_WARNS(what, name, parameters, ...) \
  QUIRE_OWN(int, name, parameters) { return pass(row_##name, what, __VA_ARGS__); }

QUIRE_WARNS(g_mutex, pthread_mutex_lock, (pthread_mutex_t * m), m)
QUIRE_WARNS(g_mutex, pthread_mutex_trylock, (pthread_mutex_t * m), m)
QUIRE_WARNS(g_mutex, pthread_mutex_timedlock, (pthread_mutex_t * m, const timespec* until), m, until)
QUIRE_WARNS(g_mutex, pthread_mutex_clocklock, (pthread_mutex_t * m, clockid_t clock, const timespec* until), m, clock,
            until)
QUIRE_WARNS(g_mutex, pthread_mutex_unlock, (pthread_mutex_t * m), m)
QUIRE_WARNS(g_mutex, mtx_lock, (mtx_t * m), m)
QUIRE_WARNS(g_mutex, mtx_trylock, (mtx_t * m), m)
QUIRE_WARNS(g_mutex, mtx_timedlock, (mtx_t * m, const timespec* until), m, until)
QUIRE_WARNS(g_mutex, mtx_unlock, (mtx_t * m), m)

QUIRE_WARNS(g_rwlock, pthread_rwlock_rdlock, (pthread_rwlock_t * l), l)
QUIRE_WARNS(g_rwlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), l)
QUIRE_WARNS(g_rwlock, pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const timespec* until), l, until)
QUIRE_WARNS(g_rwlock, pthread_rwlock_clockrdlock, (pthread_rwlock_t * l, clockid_t clock, const timespec* until), l,
            clock, until)
QUIRE_WARNS(g_rwlock, pthread_rwlock_wrlock, (pthread_rwlock_t * l), l)
QUIRE_WARNS(g_rwlock, pthread_rwlock_trywrlock, (pthread_rwlock_t * l), l)
QUIRE_WARNS(g_rwlock, pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const timespec* until), l, until)
QUIRE_WARNS(g_rwlock, pthread_rwlock_clockwrlock, (pthread_rwlock_t * l, clockid_t clock, const timespec* until), l,
            clock, until)
QUIRE_WARNS(g_rwlock, pthread_rwlock_unlock, (pthread_rwlock_t * l), l)

// libc has an old and a new kind of condition under the same names. A program that asks without a version would get the
// old one where libc comes first, so these have the version of the new kind. The old one is left alone.
#if defined(__x86_64__)
#define QUIRE_WARNS_NEW(what, name, parameters, ...)                                                  \
  extern "C" QUIRE_HIDDEN int quire_own_##name parameters;                                            \
  QUIRE_TABLE_ROW(name, quire_own_##name);                                                            \
  extern "C" QUIRE_API int quire_export_##name parameters __attribute__((alias("quire_own_" #name))); \
  asm(".symver quire_export_" #name ", " #name "@@@GLIBC_2.3.2");                                     \
  extern "C" int quire_own_##name parameters { return pass(row_##name, what, __VA_ARGS__); }
#else
#define QUIRE_WARNS_NEW QUIRE_WARNS
#endif
QUIRE_WARNS_NEW(g_condition, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t* m), c, m)
QUIRE_WARNS_NEW(g_condition, pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t* m, const timespec* until), c,
                m, until)
QUIRE_WARNS_NEW(g_condition, pthread_cond_signal, (pthread_cond_t * c), c)
QUIRE_WARNS_NEW(g_condition, pthread_cond_broadcast, (pthread_cond_t * c), c)
QUIRE_WARNS(g_condition, pthread_cond_clockwait,
            (pthread_cond_t * c, pthread_mutex_t* m, clockid_t clock, const timespec* until), c, m, clock, until)
QUIRE_WARNS(g_condition, cnd_wait, (cnd_t * c, mtx_t* m), c, m)
QUIRE_WARNS(g_condition, cnd_timedwait, (cnd_t * c, mtx_t* m, const timespec* until), c, m, until)
QUIRE_WARNS(g_condition, cnd_signal, (cnd_t * c), c)
QUIRE_WARNS(g_condition, cnd_broadcast, (cnd_t * c), c)

QUIRE_WARNS(g_barrier, pthread_barrier_wait, (pthread_barrier_t * b), b)

QUIRE_WARNS(g_spin, pthread_spin_lock, (pthread_spinlock_t * s), s)
QUIRE_WARNS(g_spin, pthread_spin_trylock, (pthread_spinlock_t * s), s)
QUIRE_WARNS(g_spin, pthread_spin_unlock, (pthread_spinlock_t * s), s)

QUIRE_WARNS(g_semaphore, sem_wait, (sem_t * s), s)
QUIRE_WARNS(g_semaphore, sem_trywait, (sem_t * s), s)
QUIRE_WARNS(g_semaphore, sem_timedwait, (sem_t * s, const timespec* until), s, until)
QUIRE_WARNS(g_semaphore, sem_clockwait, (sem_t * s, clockid_t clock, const timespec* until), s, clock, until)
QUIRE_WARNS(g_semaphore, sem_post, (sem_t * s), s)
