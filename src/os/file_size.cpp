// SPDX-License-Identifier: BSD-3-Clause
#include "os/file_size.hpp"

#include <errno.h>
#include <pthread.h>
#include <time.h>

namespace quire::os {
namespace {

sigset_t only_file_size() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

bool is_pending() noexcept {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

}  // namespace

file_size_scope::file_size_scope(limit how) noexcept {
  if (::getrlimit(RLIMIT_FSIZE, &limit_) != 0 || limit_.rlim_cur == RLIM_INFINITY) return;
  limited_ = true;
  const sigset_t set = only_file_size();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  was_pending_ = is_pending();
  if (how == limit::as_it_is || limit_.rlim_cur == limit_.rlim_max) return;
  const rlimit raised{limit_.rlim_max, limit_.rlim_max};
  raised_ = ::setrlimit(RLIMIT_FSIZE, &raised) == 0;
}

file_size_scope::~file_size_scope() {
  if (!limited_) return;
  const int error = errno;
  if (raised_) ::setrlimit(RLIMIT_FSIZE, &limit_);
  const sigset_t set = only_file_size();
  const timespec none{};
  if (!was_pending_ && is_pending()) (void)::sigtimedwait(&set, nullptr, &none);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace quire::os
