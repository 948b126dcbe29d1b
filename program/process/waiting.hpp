// SPDX-License-Identifier: BSD-3-Clause
// How a thread waits for a word in shared memory that a thread of any node will change: it looks, and sleeps longer and
// longer in between, and longer where many threads of the node wait. The kernel wakes threads of its own machine only.
#pragma once

#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace quire::program {

/// A point in time; none: for ever.
struct deadline {
  const timespec* until = nullptr;
  clockid_t clock = CLOCK_REALTIME;

  [[nodiscard]] bool is_valid() const noexcept {
    return until == nullptr || (until->tv_nsec >= 0 && until->tv_nsec < 1'000'000'000);
  }
  [[nodiscard]] bool has_passed() const noexcept {
    if (until == nullptr) return false;
    timespec now{};
    ::clock_gettime(clock, &now);
    return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
  }
};

/// Not by libc: threads are cancelled where their wait says so. The kernel reads private memory.
inline void sleep_a_little(long ns) noexcept {
  thread_local timespec t_little;
  t_little = {0, ns};
  long result = SYS_nanosleep;
  asm volatile("syscall" : "+a"(result) : "D"(&t_little), "S"(nullptr) : "rcx", "r11", "memory");
}

/// Threads of this node that sleep so.
inline constinit std::atomic<int> g_waiting{0};
class one_more_waits {
 public:
  one_more_waits() noexcept { g_waiting.fetch_add(1, std::memory_order_relaxed); }
  one_more_waits(const one_more_waits&) = delete;
  one_more_waits& operator=(const one_more_waits&) = delete;
  ~one_more_waits() { g_waiting.fetch_sub(1, std::memory_order_relaxed); }
  /// Together they look so often that a processor has time for others.
  [[nodiscard]] static long longest_ns() noexcept {
    constexpr int few = 16;
    constexpr long of_few = 1'000'000;
    return of_few * (1 + g_waiting.load(std::memory_order_relaxed) / few);
  }
};

/// Waits until `done()`. False: the time has passed.
template <class Done>
[[nodiscard]] bool wait_until(Done&& done, const deadline& end = {}) noexcept {
  constexpr int looks = 200;
  constexpr long first_ns = 10'000;
  for (int i = 0; i < looks; ++i) {
    if (done()) return true;
    __builtin_ia32_pause();
  }
  const one_more_waits here;
  for (long ns = first_ns;; ns = std::min(2 * ns, here.longest_ns())) {
    if (done()) return true;
    if (end.has_passed()) return false;
    sleep_a_little(ns);
  }
}

[[nodiscard]] inline std::uint32_t load(const std::uint32_t& word) noexcept {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}
inline void store(std::uint32_t& word, std::uint32_t value) noexcept {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}
[[nodiscard]] inline bool swap(std::uint32_t& word, std::uint32_t expected, std::uint32_t wanted) noexcept {
  return __atomic_compare_exchange_n(&word, &expected, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/// Whether an object of the program is shared, so that threads of other nodes may use it; it can be updated then.
[[nodiscard]] bool is_for_all_nodes(const void* object) noexcept;
/// A number that no other thread of the job has; not 0.
[[nodiscard]] std::uint32_t number_of_thread() noexcept;

}  // namespace quire::program
