// SPDX-License-Identifier: BSD-3-Clause
// Handlers of the program run on the alternate stack that Quire gives each thread: the kernel cannot put a signal's frame on a shared stack whose page
// is elsewhere. Async-signal-safe.
#include <dlfcn.h>
#include <signal.h>

namespace {

using action_function = int (*)(int, const struct sigaction*, struct sigaction*);

action_function real() noexcept {
  static const auto next = reinterpret_cast<action_function>(::dlsym(RTLD_NEXT, "sigaction"));
  return next;
}

/// Private: libc and the kernel read and write it.
thread_local struct sigaction t_now, t_before;

int install(int number, const struct sigaction* now, struct sigaction* before) noexcept {
  if (now != nullptr) {
    t_now = *now;
    t_now.sa_flags |= SA_ONSTACK;
  }
  const int result = real()(number, now != nullptr ? &t_now : nullptr, &t_before);
  if (result == 0 && before != nullptr) *before = t_before;
  return result;
}

sighandler_t replace(int number, sighandler_t handler, int flags) noexcept {
  struct sigaction now {}, before {};
  now.sa_handler = handler;
  now.sa_flags = flags;
  return install(number, &now, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

#define QUIRE_EXPORT extern "C" __attribute__((visibility("default")))

QUIRE_EXPORT int sigaction(int number, const struct sigaction* now, struct sigaction* before) noexcept { return install(number, now, before); }
QUIRE_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept { return replace(number, handler, SA_RESTART); }
QUIRE_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept { return replace(number, handler, SA_RESTART); }
QUIRE_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) noexcept { return replace(number, handler, SA_RESETHAND | SA_NODEFER); }
QUIRE_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept { return replace(number, handler, SA_RESETHAND | SA_NODEFER); }
