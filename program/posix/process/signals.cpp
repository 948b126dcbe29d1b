// SPDX-License-Identifier: BSD-3-Clause
// Handlers of the program run on the alternate stack that Quire gives each thread: the kernel cannot put a signal's
// frame on a shared stack whose page is elsewhere. Async-signal-safe.
#include "program/posix/process/signals.hpp"

#include <signal.h>

#include <cstdint>

#include "program/job/shared_state.hpp"
#include "program/posix/errands/actions.hpp"
#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/where.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

namespace {

using action_function = int(int, const struct sigaction*, struct sigaction*);

action_function* real() noexcept { return QUIRE_NEXT_AS(action_function, "sigaction"); }

/// Private: libc and the kernel read and write it.
thread_local struct sigaction t_now, t_before;

/// A thread of the program has set it: other nodes follow when they need it.
void note(int number, const struct sigaction& now) noexcept {
  if (number <= 0 || number >= signal_actions::most) return;
  note_action(number, now);
  prepare_for_handlers();
  // Node 0 writes for all, and the kernel sends it this one.
  if (number == SIGPIPE && files::apart && job().node != 0) (void)call_on_node(0, [] { return repeat_actions(), 0; });
}

int install(int number, const struct sigaction* now, struct sigaction* before, const void* caller) noexcept {
  if (now != nullptr) {
    t_now = *now;
    t_now.sa_flags |= SA_ONSTACK;
  }
  const int result = real()(number, now != nullptr ? &t_now : nullptr, &t_before);
  if (result == 0 && now != nullptr && for_program(caller)) note(number, t_now);
  if (result == 0 && before != nullptr) *before = t_before;
  return result;
}

sighandler_t replace(int number, sighandler_t handler, int flags, const void* caller) noexcept {
  struct sigaction now {
  }, before{};
  now.sa_handler = handler;
  now.sa_flags = flags;
  return install(number, &now, &before, caller) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

namespace quire::program {

void prepare_for_handlers() noexcept {
  if (are_there_handlers() && files::apart && files::is_node()) prepare_clerks();
}

}  // namespace quire::program

#define QUIRE_EXPORT extern "C" __attribute__((visibility("default")))

QUIRE_EXPORT int sigaction(int number, const struct sigaction* now, struct sigaction* before) noexcept {
  return install(number, now, before, QUIRE_CALLER);
}
QUIRE_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  return replace(number, handler, SA_RESTART, QUIRE_CALLER);
}
QUIRE_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  return replace(number, handler, SA_RESTART, QUIRE_CALLER);
}
QUIRE_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  return replace(number, handler, SA_RESETHAND | SA_NODEFER, QUIRE_CALLER);
}
QUIRE_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  return replace(number, handler, SA_RESETHAND | SA_NODEFER, QUIRE_CALLER);
}
