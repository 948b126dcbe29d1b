// SPDX-License-Identifier: BSD-3-Clause
// Calls of pthreads about a thread of another node are made there: signals, names, processors, priorities. Memory that
// the program hands over lies on a shared stack or in the heap, as all of the program's does; the kernel gets copies of
// it.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <atomic>
#include <cstddef>

#include "program/job/job.hpp"
#include "program/posix/errands/actions.hpp"
#include "program/posix/errands/errand.hpp"
#include "program/posix/memory/stacks.hpp"
#include "program/posix/pthreads/cancel.hpp"
#include "program/posix/pthreads/starting.hpp"
#include "program/posix/threads/cancellation.hpp"
#include "program/posix/threads/elsewhere.hpp"
#include "program/posix/threads/interrupts.hpp"
#include "program/posix/threads/of_node.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/interpose.hpp"
#include "program/process/waiting.hpp"

namespace quire::program {
namespace {

/// On the node of the thread. A thread that has ended is there as long as somebody may wait for it.
template <class Call>
int make_call(const Call& call, const thread_place& of) noexcept {
  const places_held held;
  const std::uint32_t now = load(record_of(of.node, of.number).now);
  if (now == 0 || (of.number != 0 && (now & thread_record::collected) != 0)) return ESRCH;
  return call();
}

using name_text = char[16];  ///< the longest that the kernel has
using processors = std::byte[1 << 14];

/// The caller itself: its handlers may come at once, and do what they like.
template <class Call>
int call_aside(const Call& call) noexcept {
  struct {
    const Call& call;
    int result;
  } own{call, 0};
  run_aside(
      [](void* at) {
        auto& o = *static_cast<decltype(own)*>(at);
        o.result = o.call();
      },
      &own);
  return own.result;
}

/// call() where the thread runs. The caller may be a handler, on a private stack: what call() has captured travels.
template <class Call>
int at_thread(pthread_t thread, const Call& call) noexcept {
  const thread_place of = place_of(thread);
  if (of.node < 0) return call_on_node(node_of_thread(thread), call);
  if (::pthread_equal(thread, ::pthread_self()) != 0) return call_aside(call);
  if (of.node == job().node) return call_aside([&call, &of] { return make_call(call, of); });
  return errand(of.node).run([call, of] { return make_call(call, of); });
}

/// What leads to memory of the thread's node, or to a clock of its process.
bool is_refused(pthread_t thread, const char* what) noexcept {
  const thread_place of = place_of(thread);
  if ((of.node < 0 ? node_of_thread(thread) : of.node) == job().node) return false;
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    ::fprintf(stderr, "quire: threads: %s of a thread on another node is refused (ENOTSUP)\n", what);
  return true;
}

/// The shared stack of the calling thread that has an address: Quire's, or one that the program has given it.
stack_range stack_below(std::uintptr_t address) noexcept {
  const own_thread* const self = own();
  if (self != nullptr && self->given_bytes != 0) {
    const auto end = reinterpret_cast<std::uintptr_t>(self->top), first = end - self->given_bytes;
    if (address - first < self->given_bytes) return {first, self->given_bytes};
  }
  return stack_of(address);
}

}  // namespace
}  // namespace quire::program

using namespace quire::program;

QUIRE_LIBC int pthread_kill(pthread_t thread, int number) noexcept {
  return at_thread(thread, [=] {
    repeat_actions();
    const int error = QUIRE_NEXT(pthread_kill)(thread, number);
    if (error == 0) let_in(thread, number);
    if (error == 0) end_call_for_handler(thread, number);
    return error;
  });
}
QUIRE_LIBC int pthread_sigqueue(pthread_t thread, int number, const sigval value) noexcept {
  return at_thread(thread, [=] {
    repeat_actions();
    const int error = QUIRE_NEXT(pthread_sigqueue)(thread, number, value);
    if (error == 0) let_in(thread, number);
    if (error == 0) end_call_for_handler(thread, number);
    return error;
  });
}
/// Signals of the process are for the main thread, and blocked in threads of teams; one that such a thread sends to
/// itself is not.
QUIRE_LIBC int raise(int number) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(raise)(number);
  repeat_actions();
  if (!is_let_in()) return QUIRE_NEXT(raise)(number);
  static thread_local sigset_t one, before;
  ::sigemptyset(&one);
  ::sigaddset(&one, number);
  ::pthread_sigmask(SIG_UNBLOCK, &one, &before);
  const int result = QUIRE_NEXT(raise)(number);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

QUIRE_LIBC int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  return at_thread(thread, [=] {
    name_text own{};
    if (::strnlen(name, sizeof own) == sizeof own) return ERANGE;
    ::strcpy(own, name);
    return QUIRE_NEXT(pthread_setname_np)(thread, own);
  });
}
QUIRE_LIBC int pthread_getname_np(pthread_t thread, char* name, size_t bytes) noexcept {
  return at_thread(thread, [=] {
    name_text own{};
    if (bytes < sizeof own) return ERANGE;
    const int error = QUIRE_NEXT(pthread_getname_np)(thread, own, sizeof own);
    if (error == 0) ::strcpy(name, own);
    return error;
  });
}
QUIRE_LIBC int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) noexcept {
  return at_thread(thread, [=] {
    processors own{};
    if (bytes > sizeof own) return EINVAL;
    ::memcpy(own, set, bytes);
    return QUIRE_NEXT(pthread_setaffinity_np)(thread, bytes, reinterpret_cast<const cpu_set_t*>(own));
  });
}
QUIRE_LIBC int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t* set) noexcept {
  return at_thread(thread, [=] {
    processors own{};
    if (bytes > sizeof own) return EINVAL;
    const int error = QUIRE_NEXT(pthread_getaffinity_np)(thread, bytes, reinterpret_cast<cpu_set_t*>(own));
    if (error == 0) ::memcpy(set, own, bytes);
    return error;
  });
}
QUIRE_LIBC int pthread_setschedparam(pthread_t thread, int policy, const sched_param* parameters) noexcept {
  return at_thread(thread, [=] {
    const sched_param own = *parameters;
    return QUIRE_NEXT(pthread_setschedparam)(thread, policy, &own);
  });
}
QUIRE_LIBC int pthread_getschedparam(pthread_t thread, int* policy, sched_param* parameters) noexcept {
  return at_thread(thread, [=] {
    int own_policy = 0;
    sched_param own{};
    const int error = QUIRE_NEXT(pthread_getschedparam)(thread, &own_policy, &own);
    if (error == 0) *policy = own_policy, *parameters = own;
    return error;
  });
}
QUIRE_LIBC int pthread_setschedprio(pthread_t thread, int priority) noexcept {
  return at_thread(thread, [=] { return QUIRE_NEXT(pthread_setschedprio)(thread, priority); });
}
QUIRE_LIBC int pthread_getcpuclockid(pthread_t thread, clockid_t* clock) noexcept {
  return is_refused(thread, "the clock (pthread_getcpuclockid)") ? ENOTSUP
                                                                 : QUIRE_NEXT(pthread_getcpuclockid)(thread, clock);
}
/// Of the caller itself, the stack that it is on: who looks for pointers there, or for how deep it is, asks for that.
QUIRE_LIBC int pthread_getattr_np(pthread_t thread, pthread_attr_t* to) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(pthread_getattr_np)(thread, to);
  if (is_refused(thread, "attributes (pthread_getattr_np)")) return ENOTSUP;
  const int error = QUIRE_NEXT(pthread_getattr_np)(thread, to);
  if (error != 0 || !::pthread_equal(thread, ::pthread_self())) return error;
  const stack_range own = stack_below(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  return own.bytes == 0 ? 0 : ::pthread_attr_setstack(to, reinterpret_cast<void*>(own.first), own.bytes);
}
