// SPDX-License-Identifier: BSD-3-Clause
// Waiting for threads of all nodes, and letting them go. Threads that have no place (posix/threads/records.hpp) are the
// affair of libc, on their node.
#include <errno.h>
#include <pthread.h>

#include "program/posix/threads/of_node.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/interpose.hpp"
#include "program/process/waiting.hpp"

namespace quire::program {
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
}  // namespace quire::program

using namespace quire::program;

namespace {

/// wait(where the result goes, a time of its own) on the node of a thread that has no place.
template <class Wait>
int join_at_node(pthread_t thread, void** result, const timespec* until, const Wait& wait) {
  const timespec end = until != nullptr ? *until : timespec{};
  const bool wanted = result != nullptr, timed = until != nullptr;
  void* value = nullptr;
  const int error = at_node_of(thread, [&value, wait, wanted, timed, end] {
    void* there = nullptr;
    const timespec own = end;
    const int why = wait(wanted ? &there : nullptr, timed ? &own : nullptr);
    value = there;
    return why;
  });
  if (error == 0 && wanted) *result = value;
  return error;
}

/// The caller may be cancelled meanwhile.
int join_in_parts(pthread_t thread, void** result, const deadline& end) {
  if (!end.is_valid()) return EINVAL;
  for (;;) {
    look_at_cancellation();
    const int error = join_at_node(thread, result, nullptr, [=](void** to, const timespec*) {
      constexpr long part_ns = 20'000'000, second_ns = 1'000'000'000;
      timespec until{};
      (void)::clock_gettime(CLOCK_REALTIME, &until);
      until.tv_nsec += part_ns;
      if (until.tv_nsec >= second_ns) ++until.tv_sec, until.tv_nsec -= second_ns;
      return QUIRE_NEXT(pthread_timedjoin_np)(thread, to, &until);
    });
    if (error != ETIMEDOUT || end.has_passed()) return error;
  }
}

}  // namespace

QUIRE_LIBC int pthread_join(pthread_t thread, void** result) {
  thread_record* const r = known(thread);
  if (r != nullptr) return join(*r, result, {});
  if (own() != nullptr) return join_in_parts(thread, result, {});
  return join_at_node(thread, result, nullptr,
                      [=](void** to, const timespec*) { return QUIRE_NEXT(pthread_join)(thread, to); });
}
QUIRE_LIBC int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  thread_record* const r = known(thread);
  if (r != nullptr) return join(*r, result, {until, CLOCK_REALTIME});
  if (own() != nullptr) return join_in_parts(thread, result, {until, CLOCK_REALTIME});
  return join_at_node(thread, result, until, [=](void** to, const timespec* end) {
    return QUIRE_NEXT(pthread_timedjoin_np)(thread, to, end);
  });
}
QUIRE_LIBC int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* until) {
  thread_record* const r = known(thread);
  if (r != nullptr) return join(*r, result, {until, clock});
  if (own() != nullptr) return join_in_parts(thread, result, {until, clock});
  return join_at_node(thread, result, until, [=](void** to, const timespec* end) {
    return QUIRE_NEXT(pthread_clockjoin_np)(thread, to, clock, end);
  });
}
QUIRE_LIBC int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  thread_record* const r = known(thread);
  if (r == nullptr) {
    return join_at_node(thread, result, nullptr,
                        [=](void** to, const timespec*) { return QUIRE_NEXT(pthread_tryjoin_np)(thread, to); });
  }
  if (own() != nullptr && own()->record == r) return EDEADLK;
  if (!has_ended(*r)) return EBUSY;
  if (const int error = claim(*r, thread_record::awaited); error != 0) return error;
  collect(*r, result);
  return 0;
}
QUIRE_LIBC int pthread_detach(pthread_t thread) noexcept {
  thread_record* const r = known(thread);
  if (r != nullptr) return claim(*r, thread_record::detached);
  return at_node_of(thread, [=] { return QUIRE_NEXT(pthread_detach)(thread); });
}
