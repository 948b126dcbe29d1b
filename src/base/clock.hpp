// SPDX-License-Identifier: BSD-3-Clause
// Time for counters and timeouts. Machines never call this: their time arrives inside events.
#pragma once

#include <time.h>

#include <cstdint>

#include "base/nanoseconds.hpp"
#include "base/time_limit.hpp"

namespace quire::base {

/// The kernel's function where the process has it: libc's clock_gettime is one of those that libquire takes for the
/// program.
using clock_function = int (*)(clockid_t, timespec*);
extern clock_function const kernel_clock;

/// Monotonic nanoseconds; async-signal-safe (vDSO).
[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec t;
  // While libraries are loaded, before this one's constants are there.
  (kernel_clock != nullptr ? kernel_clock : ::clock_gettime)(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

}  // namespace quire::base
