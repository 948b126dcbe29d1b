// SPDX-License-Identifier: BSD-3-Clause
// Time for counters and timeouts. Machines never call this: their time arrives inside events.
#pragma once

#include <time.h>

#include <cstdint>

namespace quire::base {

/// Monotonic nanoseconds; async-signal-safe (vDSO).
[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

/// A time limit that a caller gave in milliseconds. More than nanoseconds can say (292 years) is as long as they can;
/// less than 0 is 0.
[[nodiscard]] constexpr std::int64_t limit_ns(std::int64_t limit_ms) noexcept {
  constexpr std::int64_t each = 1'000'000;
  if (limit_ms < 0) return 0;
  return limit_ms > INT64_MAX / each ? INT64_MAX : limit_ms * each;
}

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("" ::: "memory");
#endif
}

}  // namespace quire::base
