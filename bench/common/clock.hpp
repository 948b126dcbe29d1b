// SPDX-License-Identifier: BSD-3-Clause
// The clock of all benchmarks, and the pause of a spinning loop.
#pragma once

#include <time.h>

#include <cstdint>

namespace bench {

[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

/// Of all threads of the process: what else runs on the machine does not count.
[[nodiscard]] inline std::uint64_t cpu_ns() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace bench
