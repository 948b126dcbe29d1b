// A thread that blocks SIGSEGV or SIGBUS would be killed at its next fault, without a handler being asked. To block all signals
// is a usual way to keep them from worker threads, so these two are left out of what gets blocked while Quire runs.
//
// Handlers that the application installs are noted: only if there are any must a driving thread keep signals away.
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "api/forward.hpp"
#include "detect/detector.hpp"

namespace {

using mask_function = int(int, const sigset_t*, sigset_t*);

void* next_symbol(const char* name) noexcept {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) ::abort();
  return found;
}
mask_function* next_of(const char* name) noexcept { return reinterpret_cast<mask_function*>(next_symbol(name)); }

bool running() noexcept { return quire::api::current() != nullptr || quire::api::elsewhere() != nullptr; }

int set_mask(mask_function* real, int how, const sigset_t* set, sigset_t* before) noexcept {
  if (set == nullptr || how == SIG_UNBLOCK || !running()) return real(how, set, before);
  sigset_t kept = *set;
  sigdelset(&kept, SIGSEGV);
  sigdelset(&kept, SIGBUS);
  return real(how, &kept, before);
}

}  // namespace

namespace {

/// A handler of the application may touch shared memory: from now on signals wait while a thread drives.
void note(int signal, const void* handler) noexcept {
  if (signal == SIGSEGV || signal == SIGBUS || handler == nullptr) return;
  if (handler == reinterpret_cast<const void*>(SIG_DFL) || handler == reinterpret_cast<const void*>(SIG_IGN)) return;
  quire::engine::driver::signals_handled.store(true);
}

}  // namespace

extern "C" {
QUIRE_API int sigaction(int signal, const struct sigaction* now, struct sigaction* before) {
  using function = int(int, const struct sigaction*, struct sigaction*);
  static auto* const real = reinterpret_cast<function*>(next_symbol("sigaction"));
  if (now != nullptr) note(signal, reinterpret_cast<const void*>(now->sa_handler));
  if (quire::detect::chain_signal(signal, now, before)) return 0;
  return real(signal, now, before);
}
QUIRE_API sighandler_t signal(int number, sighandler_t handler) {
  using function = sighandler_t(int, sighandler_t);
  static auto* const real = reinterpret_cast<function*>(next_symbol("signal"));
  note(number, reinterpret_cast<const void*>(handler));
  struct sigaction now {}, before {};
  now.sa_handler = handler;
  if (quire::detect::chain_signal(number, &now, &before)) return before.sa_handler;
  return real(number, handler);
}
QUIRE_API int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  static mask_function* const real = next_of("pthread_sigmask");
  return set_mask(real, how, set, before);
}
QUIRE_API int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  static mask_function* const real = next_of("sigprocmask");
  return set_mask(real, how, set, before);
}
}
