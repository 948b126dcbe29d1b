// SPDX-License-Identifier: BSD-3-Clause
// Which slots of a span are free: one bit a slot, in private memory. Slots are given lowest first. Knows numbers of
// slots, neither sizes nor addresses. Called with the heap's lock held.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quire::heap {

class slot_set {
 public:
  /// All slots, one at least, become free; the first `dirty` may have been handed out before. False when the machine
  /// has no memory left.
  [[nodiscard]] bool make(std::uint32_t slots, std::uint64_t dirty) noexcept;

  struct piece {
    std::uint32_t slot;
    bool fresh;  ///< it was never handed out, nor what follows it
  };
  /// The lowest free slot. There must be one.
  [[nodiscard]] piece take() noexcept;
  /// False if there is no such slot, or it is not taken.
  [[nodiscard]] bool give_back(std::uint64_t slot) noexcept;
  [[nodiscard]] bool is_taken(std::uint64_t slot) const noexcept;

  // Checkpoints (saved.cpp).
  void save(std::vector<std::uint64_t>& words) const;
  /// What was saved of as many slots becomes the state of these, which are all free; takes its words from the front.
  /// False if they make no sense.
  [[nodiscard]] bool load(std::uint32_t untouched, std::span<const std::uint64_t>& words) noexcept;

  [[nodiscard]] std::uint32_t slots() const noexcept { return slots_; }
  [[nodiscard]] std::uint32_t taken() const noexcept { return taken_; }
  [[nodiscard]] std::uint32_t untouched() const noexcept { return untouched_; }
  [[nodiscard]] bool is_full() const noexcept { return taken_ == slots_; }
  [[nodiscard]] bool is_empty() const noexcept { return taken_ == 0; }
  [[nodiscard]] bool is_valid() const noexcept;

 private:
  [[nodiscard]] std::uint32_t words() const noexcept { return (slots_ + 63) / 64; }
  [[nodiscard]] std::uint32_t summary_words() const noexcept { return (words() + 63) / 64; }

  std::uint32_t slots_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t untouched_ = 0;               ///< from this slot on, none was ever handed out
  std::unique_ptr<std::uint64_t[]> free_;     ///< one bit a slot: it is free
  std::unique_ptr<std::uint64_t[]> summary_;  ///< one bit a word of free_: it has a free slot
};

}  // namespace quire::heap
