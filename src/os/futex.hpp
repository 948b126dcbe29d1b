// SPDX-License-Identifier: BSD-3-Clause
// Sleeping on a word: used by threads that wait for the driver. Async-signal-safe.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
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

}  // namespace quire::os
