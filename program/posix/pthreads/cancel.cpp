// SPDX-License-Identifier: BSD-3-Clause
// pthread_cancel(3) of threads on all nodes: a thread is cancelled where it waits for others, sleeps, or asks
// (pthread_testcancel(3)), and where it begins a call that is a cancellation point, or is in one, which ends early then
// (EINTR), wherever it is made; not at any instruction. Threads of libraries, of teams, and main() of a program with
// OpenMP are libc's affair.
#include "program/posix/pthreads/cancel.hpp"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "os/signals_held.hpp"
#include "program/posix/errands/errand.hpp"
#include "program/posix/memory/callers.hpp"
#include "program/posix/threads/cancellation.hpp"
#include "program/posix/threads/of_node.hpp"
#include "program/process/waiting.hpp"

using namespace quire::program;

namespace {

/// On its node. False: it has a record, or is none of these.
bool mark(pthread_t thread) noexcept {
  const known_threads known;
  own_thread* const t = known.find(thread);
  if (t == nullptr || t->record != nullptr) return false;
  __atomic_store_n(&t->cancelled, 1, __ATOMIC_SEQ_CST);
  return true;
}

struct clerks_call {
  desk* at = nullptr;  ///< null: there is none
  int node = 0;
  std::uint32_t turn = 0;
};

enum class progress : int { none, to_begin, goes_on };
/// How far the clerk is with a call that is to end; none: it is over.
progress end_clerks_call(const clerks_call& c) noexcept {
  return call_on_node(c.node, [at = c.at, turn = c.turn] {
    if (__atomic_load_n(&at->turn, __ATOMIC_ACQUIRE) != turn) return progress::none;
    if (at->calling == nullptr || !at->calling->has_begun(turn)) return progress::to_begin;
    return at->calling->interrupt(turn) ? progress::goes_on : progress::none;
  });
}

/// Ends a call that is made here. False: there is none to end.
bool interrupt_here(pthread_t thread, clerks_call& elsewhere) noexcept {
  const known_threads known;
  own_thread* const t = known.find(thread);
  if (t == nullptr || !t->call.is_inside() ||
      __atomic_load_n(&t->cancel_state, __ATOMIC_RELAXED) != PTHREAD_CANCEL_ENABLE)
    return false;
  elsewhere.at = t->asked.load();
  if (elsewhere.at == nullptr) return t->call.interrupt(0);
  const std::uint64_t turn = t->turn_of.load();
  elsewhere.node = static_cast<int>(turn >> 32);
  elsewhere.turn = static_cast<std::uint32_t>(turn);
  t->call.note_interrupt();
  return true;
}

/// On the node of a thread that is cancelled: until it is in no call, or in one that nothing ends, as the kernel does
/// not, or libc, which begins it again.
void end_call_of(pthread_t thread) noexcept {
  constexpr long first_ns = 50'000, longest_ns = 2'000'000, most_ns = 2'000'000'000;
  long waited = 0;
  for (long ns = first_ns; waited < most_ns; waited += ns, ns = std::min(2 * ns, longest_ns)) {
    clerks_call c;
    if (!interrupt_here(thread, c)) return;
    if (c.at != nullptr) (void)end_clerks_call(c);
    sleep_a_little(ns);
  }
}

enum class arrival : int { done, soon, never };
std::uint64_t bits_of_line(const char* text, const char* begins) noexcept {
  const char* const line = std::strstr(text, begins);
  return line == nullptr ? 0 : std::strtoul(line + std::strlen(begins), nullptr, 16);
}
/// Of a signal that a thread of this node gets; never: the program blocks it; soon: Quire holds all signals there, for
/// a moment.
arrival arrival_of(pid_t thread, int number) noexcept {
  char name[40], text[4096];
  (void)std::snprintf(name, sizeof name, "/proc/self/task/%d/status", thread);
  const int fd = QUIRE_NEXT(open)(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return arrival::never;
  const ssize_t bytes = QUIRE_NEXT(read)(fd, text, sizeof text - 1);
  (void)QUIRE_NEXT(close)(fd);
  text[bytes > 0 ? bytes : 0] = 0;
  constexpr int cancelling = 32;  // no program can block it
  const std::uint64_t blocked = bits_of_line(text, "\nSigBlk:"), one = quire::os::signal_bit(number);
  if ((bits_of_line(text, "\nSigPnd:") & one) == 0) return arrival::done;
  return (blocked & one) == 0 || (blocked & quire::os::signal_bit(cancelling)) != 0 ? arrival::soon : arrival::never;
}

/// The call that a clerk makes for a thread of this node. False: there is none.
bool find_clerks_call(pthread_t thread, clerks_call& found, pid_t& number, bool& restarts) noexcept {
  const known_threads known;
  const own_thread* const t = known.find(thread);
  if (t == nullptr || (found.at = t->asked.load()) == nullptr) return false;
  const std::uint64_t turn = t->turn_of.load();
  found.node = static_cast<int>(turn >> 32);
  found.turn = static_cast<std::uint32_t>(turn);
  number = t->call.thread();
  restarts = t->restarts.load();
  return true;
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

/// An error number. One call of the kernel: a handler of the program ends it, and who cancels the thread.
int sleep_until(clockid_t clock, const timespec& end, const void* caller) {
  const cancellation_point<> point(caller);
  const int error = QUIRE_NEXT(clock_nanosleep)(clock, TIMER_ABSTIME, &end, nullptr);
  if (error == EINTR) errno = EINTR;
  return error;
}

bool is_time(const timespec& t) noexcept { return t.tv_sec >= 0 && t.tv_nsec >= 0 && t.tv_nsec < ns_of_second; }

int sleep_for(clockid_t clock, const timespec& wanted, timespec* left, const void* caller) {
  if (!is_time(wanted)) return EINVAL;
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return errno;
  const timespec end = sum(now, wanted);
  const int error = sleep_until(clock, end, caller);
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

namespace quire::program {

void end_call_for_handler(pthread_t thread, int number) noexcept {
  constexpr int most_tries = 1000, most_looks = 20;
  constexpr long pause_ns = 1'000'000;
  clerks_call c;
  pid_t waits = 0;
  bool restarts = true;
  const int flags = flags_of_handler(number);
  if (flags == -1 || !find_clerks_call(thread, c, waits, restarts) || (restarts && (flags & SA_RESTART) != 0)) return;
  const bool is_caller = ::pthread_equal(thread, ::pthread_self()) != 0;  // in a handler of its own
  for (int looks = 0; looks < most_tries; ++looks) {
    const arrival now = arrival_of(waits, number);
    if (now == arrival::done) break;
    if (is_caller || (now == arrival::never && looks >= most_looks)) return;
    sleep_a_little(pause_ns);
  }
  for (int tries = 0; tries < most_tries; ++tries) {  // its clerk may not have reached the kernel
    const progress now = end_clerks_call(c);
    if (now == progress::none || (now == progress::to_begin && is_caller)) return;
    sleep_a_little(pause_ns);
  }
}

}  // namespace quire::program

QUIRE_LIBC int pthread_cancel(pthread_t thread) {
  const thread_place at = place_of(thread);
  if (at.node < 0) {
    return at_node_of(thread, [=] {
      if (!mark(thread)) return QUIRE_NEXT(pthread_cancel)(thread);
      end_call_of(thread);
      return 0;
    });
  }
  thread_record& r = record_of(at.node, at.number);
  if (load(r.now) == 0) return ESRCH;
  __atomic_fetch_or(&r.now, thread_record::cancelled, __ATOMIC_SEQ_CST);
  if (own() != nullptr && own()->record == &r) return 0;
  return call_on_node(at.node, [=] {
    end_call_of(thread);
    return 0;
  });
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
  return with_errno(sleep_for(CLOCK_MONOTONIC, *wanted, left, QUIRE_CALLER));
}
QUIRE_LIBC int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted, timespec* left) {
  if (!sleeps(QUIRE_CALLER) || flags > TIMER_ABSTIME || clock == CLOCK_THREAD_CPUTIME_ID)
    return QUIRE_NEXT(clock_nanosleep)(clock, flags, wanted, left);
  if (flags == 0) return sleep_for(clock, *wanted, left, QUIRE_CALLER);
  return is_time(*wanted) ? sleep_until(clock, *wanted, QUIRE_CALLER) : EINVAL;
}
QUIRE_LIBC int usleep(useconds_t us) {
  constexpr useconds_t second = 1'000'000;
  const timespec wanted{us / second, static_cast<long>(us % second) * 1000};
  return sleeps(QUIRE_CALLER) ? with_errno(sleep_for(CLOCK_MONOTONIC, wanted, nullptr, QUIRE_CALLER))
                              : QUIRE_NEXT(usleep)(us);
}
QUIRE_LIBC unsigned sleep(unsigned seconds) {
  const timespec wanted{seconds, 0};
  timespec left{};
  if (!sleeps(QUIRE_CALLER)) return QUIRE_NEXT(sleep)(seconds);
  return sleep_for(CLOCK_MONOTONIC, wanted, &left, QUIRE_CALLER) == 0
             ? 0
             : static_cast<unsigned>(left.tv_sec) + (left.tv_nsec >= ns_of_second / 2 ? 1u : 0u);
}
QUIRE_LIBC int thrd_sleep(const timespec* wanted, timespec* left) {
  if (!sleeps(QUIRE_CALLER)) return QUIRE_NEXT(thrd_sleep)(wanted, left);
  const int error = sleep_for(CLOCK_MONOTONIC, *wanted, left, QUIRE_CALLER);
  return error == 0 ? 0 : error == EINTR ? -1 : -2;
}
