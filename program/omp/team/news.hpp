// SPDX-License-Identifier: BSD-3-Clause
// How threads of one node wait for anything that others of the node do: they look for a short while, then sleep until
// something is new. As other nodes wake nobody, no sleep is long. Private memory.
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "program/omp/team/patience.hpp"

namespace quire::program {

class news {
 public:
  void tell() noexcept {
    number_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
    const int saved = errno;
    ::syscall(SYS_futex, &number_, FUTEX_WAKE_PRIVATE, 1 << 30, nullptr, nullptr, 0);
    errno = saved;
  }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_.load(std::memory_order_seq_cst); }
  void sleep(std::uint32_t seen) noexcept {
    static constexpr timespec longest{0, 100'000};
    const int saved = errno;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    ::syscall(SYS_futex, &number_, FUTEX_WAIT_PRIVATE, seen, &longest, nullptr, 0);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    errno = saved;
  }

 private:
  std::atomic<std::uint32_t> number_{0}, sleepers_{0};
};

/// A thread that waits: look(), then see whether it may go on, else wait().
class news_watch {
 public:
  /// `threads`: as for patience.
  news_watch(news& of, int threads) noexcept : of_(of), looking_(threads) {}
  void look() noexcept { seen_ = of_.number(); }
  void wait() noexcept {
    constexpr int spins = 200, yields = 50;
    if (seen_ != before_) {
      tries_ = 0;
      looking_.begin_again();
    }
    before_ = seen_;
    if (++tries_ < spins) {
      __builtin_ia32_pause();
    } else if (looking_.lasts()) {
      for (int i = 0; i < looks_at_once && of_.number() == seen_; ++i) __builtin_ia32_pause();
    } else if (tries_ < spins + yields) {
      ::sched_yield();
    } else {
      of_.sleep(seen_);
    }
  }

 private:
  news& of_;
  patience looking_;
  std::uint32_t seen_ = 0, before_ = 0;
  int tries_ = 0;
};

}  // namespace quire::program
