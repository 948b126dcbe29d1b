// SPDX-License-Identifier: BSD-3-Clause
// The atomic steps of a ring of words from one node to another. A slot is zero while it is free: a sender puts its word
// there by one operation, the receiver takes it and makes the slot free again. Pure: where slots lie is the caller's
// business.
#pragma once

#include <atomic>
#include <cstdint>

namespace quire::program::steps {

/// The sender's end. One thread at a time.
class ring_sender {
 public:
  /// `slot_of(number)`: where the how many-th word goes. False: that before it in this slot has not been taken.
  template <class SlotOf>
  [[nodiscard]] bool try_put(SlotOf&& slot_of, std::uint64_t word) noexcept {
    auto&& slot = slot_of(next_);
    std::uint64_t free = 0;
    if (!slot.compare_exchange_strong(free, word)) return false;
    ++next_;
    return true;
  }
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }

 private:
  std::uint64_t next_ = 0;
};

/// The receiver's end. One thread at a time, of the node where the slot lies.
class ring_receiver {
 public:
  /// 0: no word has come.
  template <class SlotOf>
  [[nodiscard]] std::uint64_t take(SlotOf&& slot_of) noexcept {
    auto&& slot = slot_of(next_);
    const std::uint64_t word = slot.load(std::memory_order_acquire);
    if (word == 0) return 0;
    ++next_;
    slot.store(0, std::memory_order_release);
    return word;
  }
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }

 private:
  std::uint64_t next_ = 0;
};

}  // namespace quire::program::steps
