// SPDX-License-Identifier: BSD-3-Clause
// Sleeping on a word: used by threads that wait for the driver. Async-signal-safe.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "os/raw_call.hpp"

namespace quire::os {

inline long raw_futex(const void* word, int op, std::uint32_t value, const timespec* timeout) noexcept {
  return raw_call(SYS_futex, reinterpret_cast<long>(word), op, static_cast<long>(value),
                  reinterpret_cast<long>(timeout));
}

/// Sleeps while `word` is `value`, at most `timeout_ns` (negative: for ever). May wake for no reason.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t timeout_ns) noexcept {
  timespec t{static_cast<time_t>(timeout_ns / 1'000'000'000), static_cast<long>(timeout_ns % 1'000'000'000)};
  raw_futex(&word, FUTEX_WAIT_PRIVATE, value, timeout_ns < 0 ? nullptr : &t);
}
inline void futex_wake(const std::atomic<std::uint32_t>& word, int threads) noexcept {
  raw_futex(&word, FUTEX_WAKE_PRIVATE, static_cast<std::uint32_t>(threads), nullptr);
}

/// The same on a word that several processes share.
inline void futex_wait_shared(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                              std::int64_t timeout_ns) noexcept {
  timespec t{static_cast<time_t>(timeout_ns / 1'000'000'000), static_cast<long>(timeout_ns % 1'000'000'000)};
  raw_futex(&word, FUTEX_WAIT, value, timeout_ns < 0 ? nullptr : &t);
}
inline void futex_wake_shared(const std::atomic<std::uint32_t>& word, int threads) noexcept {
  raw_futex(&word, FUTEX_WAKE, static_cast<std::uint32_t>(threads), nullptr);
}

/// Sleeps while `own` is `own_value` and `shared`, a word that several processes share, is `shared_value`, until
/// `end_ns` of the monotonic clock (0: for ever). May wake for no reason. False: this kernel cannot (before
/// Linux 5.16).
[[nodiscard]] inline bool futex_wait_either(const std::atomic<std::uint32_t>& own, std::uint32_t own_value,
                                            const std::atomic<std::uint32_t>& shared, std::uint32_t shared_value,
                                            std::uint64_t end_ns) noexcept {
  constexpr long futex_waitv_call = 449;  // of all architectures; older headers have no name for it
  struct waiter {
    std::uint64_t value, address;
    std::uint32_t flags, reserved;
  };
  constexpr std::uint32_t of_32_bits = 2;
  const waiter both[] = {
      {own_value, reinterpret_cast<std::uintptr_t>(&own), of_32_bits | FUTEX_PRIVATE_FLAG, 0},
      {shared_value, reinterpret_cast<std::uintptr_t>(&shared), of_32_bits, 0},
  };
  const timespec end{static_cast<time_t>(end_ns / 1'000'000'000), static_cast<long>(end_ns % 1'000'000'000)};
  const long why = raw_call(futex_waitv_call, reinterpret_cast<long>(both), 2, 0,
                            reinterpret_cast<long>(end_ns != 0 ? &end : nullptr), CLOCK_MONOTONIC);
  return why >= 0 || why == -EAGAIN || why == -EINTR || why == -ETIMEDOUT;
}
/// Whether this kernel can, and lets this process.
[[nodiscard]] inline bool can_wait_either() noexcept {
  const std::atomic<std::uint32_t> own{0}, shared{0};
  return futex_wait_either(own, 1, shared, 1, 0);
}

}  // namespace quire::os
