// SPDX-License-Identifier: BSD-3-Clause
// Waiting for threads of all nodes, and letting them go. Threads that have no place (threads/records.hpp) are libc's
// affair.
#include <errno.h>
#include <pthread.h>

#include "openmp/libc/interpose.hpp"
#include "openmp/threads/own_threads.hpp"
#include "openmp/threads/waiting.hpp"

namespace quire::openmp {
namespace {

bool has_ended(const thread_record& r) noexcept { return (load(r.now) & thread_record::ended) != 0; }

/// From here on the caller alone waits for it (`awaited`), or nobody will (`detached`); 0, or why not.
int claim(thread_record& r, thread_record::state how) noexcept {
  for (;;) {
    const std::uint32_t now = load(r.now);
    if (now == 0 || (now & thread_record::collected) != 0) return ESRCH;
    if ((now & (thread_record::detached | thread_record::awaited)) != 0) return EINVAL;
    if (swap(r.now, now, now | how)) return 0;
  }
}
void give_up(thread_record& r) noexcept {
  __atomic_fetch_and(&r.now, ~std::uint32_t{thread_record::awaited}, __ATOMIC_ACQ_REL);
}

void collect(thread_record& r, void** result) noexcept {
  if (result != nullptr) *result = r.result;
  __atomic_fetch_or(&r.now, thread_record::collected, __ATOMIC_ACQ_REL);
}

int join(thread_record& r, void** result, const deadline& end) {
  if (own() != nullptr && own()->record == &r) return EDEADLK;
  look_at_cancellation();
  if (!end.is_valid()) return EINVAL;
  if (const int error = claim(r, thread_record::awaited); error != 0) return error;
  const bool in_time = wait_until([&] { return has_ended(r) || is_cancelled_here(); }, end);
  if (!has_ended(r)) {
    give_up(r);
    look_at_cancellation();
    if (!in_time) return ETIMEDOUT;
  }
  collect(r, result);
  return 0;
}

/// Null: libc knows it.
thread_record* known(pthread_t thread) noexcept {
  const thread_place at = place_of(thread);
  return at.node < 0 ? nullptr : &record_of(at.node, at.number);
}

}  // namespace
}  // namespace quire::openmp

using namespace quire::openmp;

QUIRE_LIBC int pthread_join(pthread_t thread, void** result) {
  thread_record* const r = known(thread);
  return r != nullptr ? join(*r, result, {}) : QUIRE_NEXT(pthread_join)(thread, result);
}
QUIRE_LIBC int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  thread_record* const r = known(thread);
  return r != nullptr ? join(*r, result, {until, CLOCK_REALTIME})
                      : QUIRE_NEXT(pthread_timedjoin_np)(thread, result, until);
}
QUIRE_LIBC int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* until) {
  thread_record* const r = known(thread);
  return r != nullptr ? join(*r, result, {until, clock})
                      : QUIRE_NEXT(pthread_clockjoin_np)(thread, result, clock, until);
}
QUIRE_LIBC int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  thread_record* const r = known(thread);
  if (r == nullptr) return QUIRE_NEXT(pthread_tryjoin_np)(thread, result);
  if (own() != nullptr && own()->record == r) return EDEADLK;
  if (!has_ended(*r)) return EBUSY;
  if (const int error = claim(*r, thread_record::awaited); error != 0) return error;
  collect(*r, result);
  return 0;
}
QUIRE_LIBC int pthread_detach(pthread_t thread) noexcept {
  thread_record* const r = known(thread);
  return r != nullptr ? claim(*r, thread_record::detached) : QUIRE_NEXT(pthread_detach)(thread);
}
