// SPDX-License-Identifier: BSD-3-Clause
// The objects of one span: consecutive pages cut into slots of one size class, with one bit a slot, in private memory.
// Slots are given lowest first. Called by heap with its lock held; knows offsets into the span, no addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quire::heap {

class span {
 public:
  /// All slots free. Of the span's `bytes`, the first `dirty_bytes` may have been handed out before. Null when the
  /// machine has no memory left.
  [[nodiscard]] static std::unique_ptr<span> make(unsigned size_class, std::uint64_t bytes,
                                                  std::uint64_t dirty_bytes) noexcept;

  struct piece {
    std::uint64_t offset;
    bool fresh;  ///< no byte of it was ever handed out
  };
  /// The lowest free slot. The span must not be full.
  [[nodiscard]] piece take() noexcept;
  /// Frees the slot that starts at `offset`; false if no taken slot starts there.
  [[nodiscard]] bool give_back(std::uint64_t offset) noexcept;
  /// Whether a taken slot starts at `offset`.
  [[nodiscard]] bool is_taken(std::uint64_t offset) const noexcept;

  // Checkpoints (saved.cpp).
  void save(std::vector<std::uint64_t>& words) const;
  /// Of a span of `bytes`; takes its words from the front. Null if they make no sense, or without memory.
  [[nodiscard]] static std::unique_ptr<span> load(std::span<const std::uint64_t>& words, std::uint64_t bytes) noexcept;

  [[nodiscard]] unsigned size_class() const noexcept { return size_class_; }
  [[nodiscard]] std::uint64_t slot_bytes() const noexcept { return slot_bytes_; }
  [[nodiscard]] std::uint32_t taken() const noexcept { return taken_; }
  [[nodiscard]] bool is_full() const noexcept { return taken_ == slots_; }
  [[nodiscard]] bool is_empty() const noexcept { return taken_ == 0; }
  [[nodiscard]] bool is_valid() const noexcept;

 private:
  span() noexcept = default;
  [[nodiscard]] std::uint32_t words() const noexcept { return (slots_ + 63) / 64; }
  [[nodiscard]] std::uint32_t summary_words() const noexcept { return (words() + 63) / 64; }

  unsigned size_class_ = 0;
  std::uint32_t slot_bytes_ = 0;
  std::uint32_t slots_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t untouched_ = 0;               ///< from this slot on, no byte was ever handed out
  std::unique_ptr<std::uint64_t[]> free_;     ///< one bit a slot: it is free
  std::unique_ptr<std::uint64_t[]> summary_;  ///< one bit a word of free_: it has a free slot
};

}  // namespace quire::heap
