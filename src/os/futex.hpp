// Sleeping on a word: used by threads that wait for the driver. Async-signal-safe.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace quire::os {

// The raw system call, not libc's syscall(): that one may be interposed by Quire itself.
inline long raw_futex(const void* word, int op, std::uint32_t value, const timespec* timeout) noexcept {
  long result;
  register long r10 asm("r10") = reinterpret_cast<long>(timeout);
  register long r8 asm("r8") = 0;
  register long r9 asm("r9") = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_futex), "D"(word), "S"(static_cast<long>(op)), "d"(static_cast<long>(value)), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
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
inline void futex_wait_shared(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t timeout_ns) noexcept {
  timespec t{static_cast<time_t>(timeout_ns / 1'000'000'000), static_cast<long>(timeout_ns % 1'000'000'000)};
  raw_futex(&word, FUTEX_WAIT, value, timeout_ns < 0 ? nullptr : &t);
}
inline void futex_wake_shared(const std::atomic<std::uint32_t>& word, int threads) noexcept {
  raw_futex(&word, FUTEX_WAKE, static_cast<std::uint32_t>(threads), nullptr);
}

}  // namespace quire::os
