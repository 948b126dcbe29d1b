// SPDX-License-Identifier: BSD-3-Clause
// A word in shared memory that one process changes and another waits for: by looking for a while, then asleep. The one
// who changes it makes a system call only if somebody sleeps. Async-signal-safe.
#pragma once

#include <sched.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "base/clock.hpp"
#include "os/futex.hpp"

namespace quire::split {

class bell {
 public:
  [[nodiscard]] std::uint32_t value() const noexcept { return value_.load(std::memory_order_acquire); }
  void set(std::uint32_t value) noexcept {
    value_.store(value, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) os::futex_wake_shared(value_, INT_MAX);
  }
  /// True for the one who changed it. Wakes nobody.
  [[nodiscard]] bool change(std::uint32_t from, std::uint32_t to) noexcept {
    return value_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }
  /// One more, whatever others do.
  void ring() noexcept {
    value_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) os::futex_wake_shared(value_, INT_MAX);
  }
  /// Waits until `wanted(value)`, at most `timeout_ns` (negative: for ever), the first `spin_ns` of them awake, and
  /// then calls `meanwhile()` again and again. False when the time is over.
  template <class Wanted, class F>
  bool wait_until(Wanted&& wanted, std::uint64_t spin_ns, std::int64_t timeout_ns, F&& meanwhile) noexcept {
    constexpr unsigned looks = 32;
    const std::uint64_t start = base::now_ns();
    for (unsigned round = 1; spin_ns != 0 && !wanted(value()); ++round) {
      meanwhile();
      base::cpu_relax();
      if (round % looks != 0) continue;
      const std::uint64_t waited = base::now_ns() - start;
      if (waited > spin_ns) break;
      if (waited > patience_ns) ::sched_yield();
    }
    for (std::uint32_t now; !wanted(now = value());) {
      std::int64_t left = -1;
      if (timeout_ns >= 0) left = timeout_ns - static_cast<std::int64_t>(base::now_ns() - start);
      if (timeout_ns >= 0 && left <= 0) return false;
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      os::futex_wait_shared(value_, now, left);
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    return true;
  }

 private:
  static constexpr std::uint64_t patience_ns = 3000;  ///< then others may have the core
  std::atomic<std::uint32_t> value_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace quire::split
