// SPDX-License-Identifier: BSD-3-Clause
#include "os/own_thread.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/log.hpp"
#include "os/futex.hpp"
#include "os/limits.hpp"
#include "os/raw_call.hpp"
#include "os/signals_held.hpp"

namespace quire::os {

void die_without_thread(int error) noexcept {
  base::die(QUIRE_NO_MEMORY, "cannot start a thread: %s%s", std::strerror(error), explain(shortage::thread).text);
}

void* thread_reserve::wait(void* self) noexcept {
  auto& all = *static_cast<thread_reserve*>(self);
  all.numbers_[all.entered_.fetch_add(1)] = static_cast<pid_t>(raw_call(SYS_gettid, 0, 0, 0));
  while (all.open_.load() == 0) futex_wait(all.open_, 0, -1);
  return nullptr;
}

bool thread_reserve::take() noexcept {
  const signals_held none;
  for (int error = 0; made_ < count; ++made_) {
    error = ::pthread_create(&threads_[made_], nullptr, wait, this);
    if (error == 0) continue;
    base::log(base::log_level::error, "a node needs %u threads beside the program's: %s%s", count, std::strerror(error),
              explain(shortage::thread).text);
    return false;
  }
  return true;
}

/// The system still counts a thread that was joined, for a moment.
void thread_reserve::release() noexcept {
  open_.store(1);
  futex_wake(open_, count);
  for (unsigned i = 0; i < made_; ++i) ::pthread_join(threads_[i], nullptr);
  constexpr int most_looks = 10'000;
  for (unsigned i = 0; i < made_; ++i)
    for (int look = 0; look < most_looks && raw_call(SYS_tgkill, ::getpid(), numbers_[i], 0) != -ESRCH; ++look)
      ::sched_yield();
  made_ = 0;
}

}  // namespace quire::os
