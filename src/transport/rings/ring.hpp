// SPDX-License-Identifier: BSD-3-Clause
// A ring of bytes in shared memory, with one process that writes and one that reads. What the writer has put is not
// there for the reader until it is published, by one store: a writer that is killed at any moment leaves whole bytes,
// and nothing that others wait for. So is a reader's taking.
//
// Driver's thread of each side; no system calls.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "base/copy_words.hpp"

namespace quire::transport::rings {

/// What both see. Zeroes at first; the bytes follow it.
struct ring_page {
  alignas(64) std::atomic<std::uint64_t> published{0};  ///< bytes, by the writer
  std::atomic<std::uint32_t> writer_waits{0};           ///< for room: the reader is to wake it
  alignas(64) std::atomic<std::uint64_t> taken{0};      ///< bytes, by the reader
};
inline constexpr std::size_t ring_page_bytes = 4096;

/// Words of 8 bytes lie in a ring as they lie in what is put: positions are multiples of 8, and so is `capacity`.
class ring_end {
 protected:
  void open(void* memory, std::size_t capacity) noexcept {
    CHECK(capacity % 8 == 0);
    page_ = static_cast<ring_page*>(memory);
    bytes_ = static_cast<std::byte*>(memory) + ring_page_bytes;
    capacity_ = capacity;
  }
  /// Calls f(address in the ring, offset in what is copied, bytes) for the one or two parts from `position` on.
  template <class F>
  void each_part(std::uint64_t position, std::size_t bytes, F f) const noexcept {
    const std::size_t at = position % capacity_, first = std::min(bytes, capacity_ - at);
    f(bytes_ + at, std::size_t{0}, first);
    if (first != bytes) f(bytes_, first, bytes - first);
  }

  ring_page* page_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::size_t capacity_ = 0;
};

[[nodiscard]] constexpr std::size_t to_words(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

class ring_writer : ring_end {
 public:
  using ring_end::open;
  [[nodiscard]] bool is_open() const noexcept { return page_ != nullptr; }
  /// Bytes, a multiple of 8, that can be put now.
  [[nodiscard]] std::size_t room() const noexcept {
    const std::uint64_t used = put_ - page_->taken.load(std::memory_order_acquire);
    return used > capacity_ ? 0 : capacity_ - static_cast<std::size_t>(used);
  }
  /// There is room. The next bytes begin at a multiple of 8 again.
  void put(const void* from, std::size_t bytes) noexcept {
    ASSERT(to_words(bytes) <= room());
    each_part(put_, bytes, [&](std::byte* to, std::size_t offset, std::size_t n) {
      base::copy_words(to, static_cast<const std::byte*>(from) + offset, n);
    });
    put_ += to_words(bytes);
  }
  void publish() noexcept { page_->published.store(put_, std::memory_order_release); }
  /// The reader is to wake this side when it has taken something. True if `bytes` have room already.
  [[nodiscard]] bool wait_for_room(std::size_t bytes) noexcept {
    if (page_->writer_waits.load(std::memory_order_relaxed) == 0)
      page_->writer_waits.exchange(1, std::memory_order_seq_cst);
    __sync_synchronize();
    return room() >= bytes;
  }

 private:
  std::uint64_t put_ = 0;
};

class ring_reader : ring_end {
 public:
  using ring_end::open;
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Something was published since the last look(), or look_again() was called, and there is something.
  [[nodiscard]] bool has_news() const noexcept { return page_->published.load(std::memory_order_acquire) != looked_; }
  /// Bytes that can be taken. More than the capacity: the writer is out of its mind.
  std::uint64_t look() noexcept {
    looked_ = page_->published.load(std::memory_order_acquire);
    return looked_ - taken_;
  }
  void look_again() noexcept { looked_ = taken_; }
  /// Copies what lies `skip` bytes ahead, a multiple of 8, and does not take it.
  void copy(void* to, std::size_t bytes, std::size_t skip) const noexcept {
    each_part(taken_ + skip, bytes, [&](const std::byte* from, std::size_t offset, std::size_t n) {
      base::copy_words(static_cast<std::byte*>(to) + offset, from, n);
    });
  }
  void take(std::size_t bytes) noexcept {
    taken_ += to_words(bytes);
    page_->taken.store(taken_, std::memory_order_release);
  }
  /// After taking: whether the writer waits for it, and is to be woken.
  [[nodiscard]] bool writer_waits() noexcept {
    __sync_synchronize();
    return page_->writer_waits.load(std::memory_order_relaxed) != 0 &&
           page_->writer_waits.exchange(0, std::memory_order_seq_cst) != 0;
  }

 private:
  std::uint64_t taken_ = 0, looked_ = 0;
};

}  // namespace quire::transport::rings
