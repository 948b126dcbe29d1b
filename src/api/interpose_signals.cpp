// A thread that blocks SIGSEGV or SIGBUS would be killed at its next fault, without a handler being asked. To block all signals
// is a usual way to keep them from worker threads, so these two are left out of what gets blocked while Quire runs.
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "api/runtime.hpp"

namespace {

using mask_function = int(int, const sigset_t*, sigset_t*);

mask_function* next_of(const char* name) noexcept {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) ::abort();
  return reinterpret_cast<mask_function*>(found);
}

int set_mask(mask_function* real, int how, const sigset_t* set, sigset_t* before) noexcept {
  if (set == nullptr || how == SIG_UNBLOCK || quire::api::current() == nullptr) return real(how, set, before);
  sigset_t kept = *set;
  sigdelset(&kept, SIGSEGV);
  sigdelset(&kept, SIGBUS);
  return real(how, &kept, before);
}

}  // namespace

extern "C" {
QUIRE_API int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  static mask_function* const real = next_of("pthread_sigmask");
  return set_mask(real, how, set, before);
}
QUIRE_API int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  static mask_function* const real = next_of("sigprocmask");
  return set_mask(real, how, set, before);
}
}
