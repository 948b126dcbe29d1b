// SPDX-License-Identifier: BSD-3-Clause
// Time for counters and timeouts. Machines never call this: their time arrives inside events.
#pragma once

#include <time.h>

#include <cstdint>

#include "base/time_limit.hpp"

namespace quire::base {

/// Monotonic nanoseconds; async-signal-safe (vDSO).
[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("" ::: "memory");
#endif
}

}  // namespace quire::base
