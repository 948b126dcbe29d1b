// SPDX-License-Identifier: BSD-3-Clause
// futex(2) on words in shared memory, by syscall(2): what atomics, latches, futures of C++ and other languages' locks
// wait with. The kernel knows the waiters of its own machine only. So a thread that waits looks whether the word has
// changed, and comes back now and then in any case, which futex(2) allows: its caller looks again.
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <limits>

#include "program/job/job.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/mappings/mapping_calls.hpp"
#include "program/posix/process/new_processes.hpp"
#include "program/process/interpose.hpp"
#include "program/process/waiting.hpp"

using namespace quire::program;

namespace {

long futex_failed(int error) noexcept {
  errno = error;
  return -1;
}

timespec later(clockid_t clock, const timespec& by) noexcept {
  constexpr long second = 1'000'000'000;
  timespec t{};
  ::clock_gettime(clock, &t);
  if (__builtin_add_overflow(t.tv_sec, by.tv_sec, &t.tv_sec)) return {std::numeric_limits<time_t>::max(), 0};
  t.tv_nsec += by.tv_nsec;
  if (t.tv_nsec >= second) ++t.tv_sec, t.tv_nsec -= second;
  return t;
}

/// Its caller looks again, and writes that it does so: seldom where many wait.
timespec patience() noexcept {
  constexpr long looks = 50, second = 1'000'000'000;
  const long ns = looks * one_more_waits::longest_ns();
  return {ns / second, ns % second};
}

long wait(const std::uint32_t& word, std::uint32_t expected, const deadline& end) noexcept {
  if (!end.is_valid()) return futex_failed(EINVAL);
  if (load(word) != expected) return futex_failed(EAGAIN);
  const timespec soon = later(CLOCK_MONOTONIC, patience());
  const deadline at_last{&soon, CLOCK_MONOTONIC};
  (void)!wait_until([&] { return load(word) != expected || end.has_passed(); }, at_last);
  return end.has_passed() && load(word) == expected ? futex_failed(ETIMEDOUT) : 0;
}

long refuse(int what) noexcept {
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    std::fprintf(stderr, "quire: threads: operation %d of futex(2) is refused on memory of all nodes (ENOSYS)\n", what);
  return futex_failed(ENOSYS);
}

/// As the kernel has them, of a word of all nodes.
long futex(const std::uint32_t& word, int how, std::uint32_t value, const timespec* limit) noexcept {
  const int what = how & FUTEX_CMD_MASK;
  const clockid_t clock = (how & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  if (what == FUTEX_WAKE || what == FUTEX_WAKE_BITSET) return 0;
  if (what == FUTEX_WAIT_BITSET || (what == FUTEX_WAIT && limit == nullptr)) return wait(word, value, {limit, clock});
  if (what != FUTEX_WAIT) return refuse(what);
  const timespec end = later(CLOCK_MONOTONIC, *limit);
  return wait(word, value, {&end, CLOCK_MONOTONIC});
}

}  // namespace

// Six arguments are there to be read whether the caller has given them or not.
QUIRE_LIBC long syscall(long number, ...) noexcept {
  va_list all;
  va_start(all, number);
  long a[6];
  for (long& one : a) one = va_arg(all, long);
  va_end(all);
  if (number == SYS_futex && job().nodes > 1) {
    const auto* const word = reinterpret_cast<const std::uint32_t*>(a[0]);
    if (is_for_all_nodes(word))
      return futex(*word, static_cast<int>(a[1]), static_cast<std::uint32_t>(a[2]),
                   reinterpret_cast<const timespec*>(a[3]));
  }
  refuse_process_call(number, a, QUIRE_CALLER);
  if (long result = 0; make_mapping_call(number, a, QUIRE_CALLER, result)) return result;
  return QUIRE_NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
