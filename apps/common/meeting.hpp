// SPDX-License-Identifier: BSD-3-Clause
// Where the threads of a node meet, and the last one does something before all go on. Other than std::barrier it looks for 100 us before it
// sleeps, as OpenMP's barrier does: threads that share work evenly are there within microseconds of each other, and a sleep costs 20
// to 40. One thread meets nobody.
#pragma once

#include <atomic>
#include <chrono>
#include <type_traits>
#include <utility>

namespace apps {

template <class Last>
class meeting {
  static_assert(std::is_nothrow_invocable_v<Last&>, "the others would wait for ever");

 public:
  meeting(int threads, Last last) : threads_(threads), last_(std::move(last)) {}
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;

  void arrive_and_wait() {
    if (threads_ == 1) return last_();
    const unsigned round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 != threads_) return wait_for_the_end_of(round);
    arrived_.store(0, std::memory_order_relaxed);
    last_();
    round_.store(round + 1, std::memory_order_release);
    round_.notify_all();
  }

 private:
  void wait_for_the_end_of(unsigned round) const {
    constexpr int looks_between = 64;
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
    do {
      for (int i = 0; i < looks_between; ++i) {
        if (round_.load(std::memory_order_acquire) != round) return;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
      }
    } while (std::chrono::steady_clock::now() < end);
    round_.wait(round, std::memory_order_acquire);
  }

  const int threads_;
  Last last_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<unsigned> round_{0};
};

}  // namespace apps
