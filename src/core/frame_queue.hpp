// SPDX-License-Identifier: BSD-3-Clause
// A queue of frames, from which page_out.cpp chooses those that leave memory. frames.cpp. Driver's thread only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::core {

/// Frames in the order in which they came. A ring in memory of its own, so that it can grow while a fault is served.
class frame_queue {
 public:
  struct entry {
    std::uint64_t region : 16 = 0, frame : 48 = 0;
  };
  frame_queue() = default;
  frame_queue(const frame_queue&) = delete;
  frame_queue& operator=(const frame_queue&) = delete;
  ~frame_queue();
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Bytes that all frames in it take.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// A frame of `bytes`.
  void push(entry e, std::uint64_t bytes) noexcept {
    if (size_ == capacity_) grow();
    bytes_ += bytes;
    ring_[(head_ + size_++) & (capacity_ - 1)] = e;
  }
  /// The next frame; the caller looks up its size, and tells it.
  [[nodiscard]] entry pop() noexcept {
    const entry e = ring_[head_];
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
    return e;
  }
  void popped(std::uint64_t bytes) noexcept { bytes_ -= bytes; }
  /// The frame of an entry that is in it counts again.
  void counts(std::uint64_t bytes) noexcept { bytes_ += bytes; }
  /// Takes those of a region out, of which `bytes_of(frame)` are counted.
  template <class F>
  void forget(std::uint16_t region, F&& bytes_of) noexcept {
    for (std::size_t left = size_; left != 0; --left) {
      const entry e = pop();
      if (e.region != region) {
        ring_[(head_ + size_++) & (capacity_ - 1)] = e;
      } else {
        bytes_ -= bytes_of(e.frame);
      }
    }
  }
  /// f(entry) for all.
  template <class F>
  void for_each(F&& f) const noexcept {
    for (std::size_t i = 0; i < size_; ++i) f(ring_[(head_ + i) & (capacity_ - 1)]);
  }

 private:
  void grow() noexcept;
  entry* ring_ = nullptr;
  std::size_t capacity_ = 0, head_ = 0, size_ = 0;  ///< capacity: a power of two
  std::uint64_t bytes_ = 0;
};

}  // namespace quire::core
