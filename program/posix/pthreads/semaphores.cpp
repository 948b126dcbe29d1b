// SPDX-License-Identifier: BSD-3-Clause
// Semaphores in shared memory are for threads of all nodes. A named one is a file that node 0 has mapped: threads of
// other nodes wait there. Any other in private memory is of the node.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <time.h>

#include <cstdarg>

#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/output.hpp"
#include "program/posix/errands/where.hpp"
#include "program/posix/memory/own_addresses.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/interpose.hpp"
#include "program/process/waiting.hpp"

namespace quire::program {
namespace {

/// Libc has the value first, too.
std::uint32_t& value_of(sem_t* s) noexcept { return *reinterpret_cast<std::uint32_t*>(s); }

bool take_semaphore(std::uint32_t& value) noexcept {
  for (std::uint32_t now = load(value); now != 0; now = load(value)) {
    if (swap(value, now, now - 1)) return true;
  }
  return false;
}

int semaphore_failed(int error) noexcept {
  errno = error;
  return -1;
}

int wait(std::uint32_t& value, const deadline& end) {
  look_at_cancellation();
  if (take_semaphore(value)) return 0;
  if (!end.is_valid()) return semaphore_failed(EINVAL);
  bool taken = false;
  const bool in_time = wait_until([&] { return (taken = take_semaphore(value)) || is_cancelled_here(); }, end);
  if (!taken) look_at_cancellation();
  return taken ? 0 : semaphore_failed(in_time ? EINTR : ETIMEDOUT);
}

int post(std::uint32_t& value) noexcept {
  write_output();
  for (std::uint32_t now = load(value);; now = load(value)) {
    if (now == SEM_VALUE_MAX) return semaphore_failed(EOVERFLOW);
    if (swap(value, now, now + 1)) return 0;
  }
}

/// libc's call, on the node whose memory the semaphore is.
template <class Call>
int call_at(const sem_t* s, const Call& call) {
  const int node = files::apart ? node_of_private(reinterpret_cast<std::uint64_t>(s)) : here;
  if (node < 0 || node == job().node || !files::is_node()) return call();
  return errand(node).run(call);
}

/// The same with a time, which travels.
template <class Call>
int call_until(const sem_t* s, const timespec* until, const Call& call) {
  if (until == nullptr) return call(until);
  return call_at(s, [call, until = *until] { return call(&until); });
}

}  // namespace
}  // namespace quire::program

using namespace quire::program;

QUIRE_LIBC int sem_wait(sem_t* s) {
  if (is_for_all_nodes(s)) return wait(value_of(s), {});
  return call_at(s, [s] { return QUIRE_NEXT(sem_wait)(s); });
}
QUIRE_LIBC int sem_trywait(sem_t* s) noexcept {
  if (is_for_all_nodes(s)) return take_semaphore(value_of(s)) ? 0 : semaphore_failed(EAGAIN);
  return call_at(s, [s] { return QUIRE_NEXT(sem_trywait)(s); });
}
QUIRE_LIBC int sem_timedwait(sem_t* s, const timespec* until) {
  if (is_for_all_nodes(s)) return wait(value_of(s), {until, CLOCK_REALTIME});
  return call_until(s, until, [s](const timespec* end) { return QUIRE_NEXT(sem_timedwait)(s, end); });
}
QUIRE_LIBC int sem_clockwait(sem_t* s, clockid_t clock, const timespec* until) {
  if (is_for_all_nodes(s)) return wait(value_of(s), {until, clock});
  return call_until(s, until, [s, clock](const timespec* end) { return QUIRE_NEXT(sem_clockwait)(s, clock, end); });
}
QUIRE_LIBC int sem_post(sem_t* s) noexcept {
  if (is_for_all_nodes(s)) return post(value_of(s));
  return call_at(s, [s] { return QUIRE_NEXT(sem_post)(s); });
}
QUIRE_LIBC int sem_getvalue(sem_t* s, int* value) noexcept {
  if (is_for_all_nodes(s)) return *value = static_cast<int>(load(value_of(s))), 0;
  const int found = call_at(s, [s] {
    int now = 0;
    return QUIRE_NEXT(sem_getvalue)(s, &now) == 0 ? now : -1;
  });
  return found < 0 ? -1 : (*value = found, 0);
}

QUIRE_LIBC sem_t* sem_open(const char* name, int flags, ...) noexcept {
  va_list arguments;
  va_start(arguments, flags);
  const bool makes = (flags & O_CREAT) != 0;
  const mode_t mode = makes ? va_arg(arguments, mode_t) : 0;
  const unsigned value = makes ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  const int node = node_of(new_one(), QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(sem_open)(name, flags, mode, value);
  errand e(node);
  const char* const there = e.take(name);
  return e.run([=] { return QUIRE_NEXT(sem_open)(there, flags, mode, value); });
}
QUIRE_LIBC int sem_close(sem_t* s) noexcept {
  return call_at(s, [s] { return QUIRE_NEXT(sem_close)(s); });
}
