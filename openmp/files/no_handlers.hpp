// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <signal.h>

#include <initializer_list>

namespace quire::openmp {

/// As long as this lives, no handler of the program interrupts the thread, which has a lock that the handler may want:
/// signals wait.
class no_handlers {
 public:
  no_handlers() noexcept { before_ = from_now_on(); }
  no_handlers(const no_handlers&) = delete;
  no_handlers& operator=(const no_handlers&) = delete;
  ~no_handlers() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  /// To the end of the thread. The mask before.
  static sigset_t from_now_on() noexcept {
    sigset_t others, before;
    ::sigfillset(&others);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) ::sigdelset(&others, own);
    ::pthread_sigmask(SIG_BLOCK, &others, &before);
    return before;
  }

 private:
  sigset_t before_;
};

}  // namespace quire::openmp
