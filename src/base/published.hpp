// SPDX-License-Identifier: BSD-3-Clause
// A value that one thread sets and others read, at any time: who reads it sees what was written before it was set.
#pragma once

#include <atomic>

namespace quire::base {

template <class T>
class published {
 public:
  void set(T value) noexcept { value_.store(value, std::memory_order_release); }
  [[nodiscard]] T get() const noexcept { return value_.load(std::memory_order_acquire); }
  /// False, and nothing has changed, if somebody has set it to something else than `before`.
  [[nodiscard]] bool replace(T before, T value) noexcept {
    return value_.compare_exchange_strong(before, value, std::memory_order_acq_rel);
  }

 private:
  std::atomic<T> value_{};
};

}  // namespace quire::base
