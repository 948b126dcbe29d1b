// SPDX-License-Identifier: BSD-3-Clause
// What is made at its first use, below functions that are interposed: std::call_once and static objects of C++ lock,
// and a lock is interposed, too.
#pragma once

#include <atomic>

namespace quire::program {

class made_once {
 public:
  /// `make` is run by one thread; others wait, awake. It may not need what it makes.
  template <class Make>
  void run(Make&& make) noexcept {
    if (state_.load(std::memory_order_acquire) == state::made) return;
    state now = state::none;
    if (state_.compare_exchange_strong(now, state::begun, std::memory_order_acquire)) {
      make();
      state_.store(state::made, std::memory_order_release);
      return;
    }
    while (state_.load(std::memory_order_acquire) != state::made) __builtin_ia32_pause();
  }

 private:
  enum class state { none, begun, made };
  std::atomic<state> state_{state::none};
};

}  // namespace quire::program
