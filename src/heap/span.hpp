// SPDX-License-Identifier: BSD-3-Clause
// The objects of one span: consecutive pages cut into slots of one size class (slot_set.hpp). Called by heap with its
// lock held; knows offsets into the span, no addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heap/slot_set.hpp"

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
  [[nodiscard]] piece take() noexcept {
    const slot_set::piece taken = slots_.take();
    return {std::uint64_t{taken.slot} * slot_bytes_, taken.fresh};
  }
  /// Frees the slot that starts at `offset`; false if no taken slot starts there.
  [[nodiscard]] bool give_back(std::uint64_t offset) noexcept {
    return offset % slot_bytes_ == 0 && slots_.give_back(offset / slot_bytes_);
  }
  /// Whether a taken slot starts at `offset`.
  [[nodiscard]] bool is_taken(std::uint64_t offset) const noexcept {
    return offset % slot_bytes_ == 0 && slots_.is_taken(offset / slot_bytes_);
  }

  // Checkpoints (saved.cpp).
  void save(std::vector<std::uint64_t>& words) const;
  /// Of a span of `bytes`; takes its words from the front. Null if they make no sense, or without memory.
  [[nodiscard]] static std::unique_ptr<span> load(std::span<const std::uint64_t>& words, std::uint64_t bytes) noexcept;

  [[nodiscard]] unsigned size_class() const noexcept { return size_class_; }
  [[nodiscard]] std::uint64_t slot_bytes() const noexcept { return slot_bytes_; }
  [[nodiscard]] std::uint32_t taken() const noexcept { return slots_.taken(); }
  [[nodiscard]] bool is_full() const noexcept { return slots_.is_full(); }
  [[nodiscard]] bool is_empty() const noexcept { return slots_.is_empty(); }
  [[nodiscard]] bool is_valid() const noexcept;

 private:
  span() noexcept = default;

  unsigned size_class_ = 0;
  std::uint32_t slot_bytes_ = 0;
  slot_set slots_;
};

}  // namespace quire::heap
