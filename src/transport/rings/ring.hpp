// SPDX-License-Identifier: BSD-3-Clause
// From one process to another, in shared memory: a ring of lines, and a ring of the bytes that they bring. A record is
// a line of 64 bytes, whose first word is stored last and says by the number of the lap that it is new. So one store
// makes a record visible, and nothing but that line moves from core to core, if it brings no bytes. A writer that is
// killed at any moment leaves whole records, and nothing that others wait for. So is a reader's taking.
//
// Driver's thread of each side; no system calls.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.hpp"
#include "base/copy_words.hpp"

namespace quire::transport::rings {

inline constexpr std::size_t line_bytes = 64;

/// What both see, before the lines. Zeroes at first.
struct ring_page {
  alignas(line_bytes) std::atomic<std::uint64_t> lines_taken{0};   ///< by the reader
  std::atomic<std::uint64_t> bytes_taken{0};                       ///< by the reader
  alignas(line_bytes) std::atomic<std::uint32_t> writer_waits{0};  ///< for room: the reader is to wake it
};
static_assert(sizeof(ring_page) == 2 * line_bytes);

struct record_line {
  std::uint64_t word = 0;  ///< 16 bits of it, from `lap_shift` on, are the ring's
  std::byte rest[line_bytes - sizeof(std::uint64_t)] = {};
};
static_assert(sizeof(record_line) == line_bytes);
inline constexpr unsigned lap_shift = 32;
inline constexpr std::uint64_t lap_mask = std::uint64_t{0xffff} << lap_shift;

/// Powers of two; `bytes` a multiple of lines.
struct ring_size {
  std::size_t lines = 0, bytes = 0;
  [[nodiscard]] constexpr std::size_t all() const noexcept { return sizeof(ring_page) + lines * line_bytes + bytes; }
};

class ring_end {
 public:
  /// `memory` begins at a line and has room for size.all().
  void open(void* memory, ring_size size) noexcept {
    CHECK(std::has_single_bit(size.lines) && size.lines >= 4 && std::has_single_bit(size.bytes) &&
          size.bytes >= 4 * line_bytes);
    page_ = static_cast<ring_page*>(memory);
    lines_ = reinterpret_cast<record_line*>(page_ + 1);
    bytes_ = reinterpret_cast<std::byte*>(lines_ + size.lines);
    line_mask_ = size.lines - 1;
    line_shift_ = std::countr_zero(size.lines);
    byte_mask_ = size.bytes - 1;
  }
  [[nodiscard]] bool is_open() const noexcept { return page_ != nullptr; }
  /// That a record may bring.
  [[nodiscard]] std::size_t most_bytes() const noexcept { return (byte_mask_ + 1) / 2; }

 protected:
  /// The bytes of each record begin at a line.
  [[nodiscard]] static constexpr std::size_t to_lines(std::size_t bytes) noexcept {
    return (bytes + line_bytes - 1) / line_bytes * line_bytes;
  }
  [[nodiscard]] std::atomic_ref<std::uint64_t> word_at(std::uint64_t line) const noexcept {
    return std::atomic_ref<std::uint64_t>(lines_[line & line_mask_].word);
  }
  /// Never 0, as fresh memory has it, nor what the lap before had.
  [[nodiscard]] std::uint64_t lap_of(std::uint64_t line) const noexcept {
    return (1 + (line >> line_shift_) % 0xffff) << lap_shift;
  }
  /// Calls f(address in the ring, offset in what is copied, bytes) for the one or two parts from `position` on.
  template <class F>
  void each_part(std::uint64_t position, std::size_t bytes, F f) const noexcept {
    const std::size_t at = position & byte_mask_, first = std::min<std::size_t>(bytes, byte_mask_ + 1 - at);
    f(bytes_ + at, std::size_t{0}, first);
    if (first != bytes) f(bytes_, first, bytes - first);
  }

  ring_page* page_ = nullptr;
  record_line* lines_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::uint64_t line_mask_ = 0, byte_mask_ = 0;
  int line_shift_ = 0;
};

class ring_writer : public ring_end {
 public:
  /// For a record that brings `bytes` bytes. Looks at what has been taken only if it has to: the reader writes there.
  [[nodiscard]] bool has_room(std::size_t bytes) noexcept {
    if (fits(bytes)) return true;
    const std::uint64_t lines = page_->lines_taken.load(std::memory_order_acquire);
    const std::uint64_t taken = page_->bytes_taken.load(std::memory_order_acquire);
    // Else the reader is out of its mind.
    if (lines_put_ - lines <= line_mask_ + 1) lines_taken_ = lines;
    if (bytes_put_ - taken <= byte_mask_ + 1) bytes_taken_ = taken;
    return fits(bytes);
  }
  /// There is room. Then the record is visible.
  void put(const record_line& line, const void* from, std::size_t bytes) noexcept {
    ASSERT(bytes <= most_bytes() && fits(bytes));
    each_part(bytes_put_, bytes, [&](std::byte* to, std::size_t offset, std::size_t n) {
      base::copy_words(to, static_cast<const std::byte*>(from) + offset, n);
    });
    bytes_put_ += to_lines(bytes);
    std::memcpy(lines_[lines_put_ & line_mask_].rest, line.rest, sizeof line.rest);
    word_at(lines_put_).store((line.word & ~lap_mask) | lap_of(lines_put_), std::memory_order_release);
    ++lines_put_;
  }
  /// The reader is to wake this side when it has taken something. True if there is room already.
  [[nodiscard]] bool wait_for_room(std::size_t bytes) noexcept {
    if (page_->writer_waits.load(std::memory_order_relaxed) == 0)
      page_->writer_waits.exchange(1, std::memory_order_seq_cst);
    __sync_synchronize();
    return has_room(bytes);
  }

 private:
  [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
    return lines_put_ - lines_taken_ <= line_mask_ && bytes_put_ + to_lines(bytes) - bytes_taken_ <= byte_mask_ + 1;
  }
  std::uint64_t lines_put_ = 0, bytes_put_ = 0;
  std::uint64_t lines_taken_ = 0, bytes_taken_ = 0;  ///< what this side knows of it
};

class ring_reader : public ring_end {
 public:
  /// There is a record, until it is taken.
  [[nodiscard]] bool has_news() const noexcept {
    return (word_at(lines_taken_).load(std::memory_order_acquire) & lap_mask) == lap_of(lines_taken_);
  }
  /// Of the record that is there.
  [[nodiscard]] record_line read_line() const noexcept { return lines_[lines_taken_ & line_mask_]; }
  void copy(void* to, std::size_t bytes) const noexcept {
    each_part(bytes_taken_, bytes, [&](const std::byte* from, std::size_t offset, std::size_t n) {
      base::copy_words(static_cast<std::byte*>(to) + offset, from, n);
    });
  }
  /// The record that is there, which brought so much. True: its writer waits for that, and is to be woken. Who waits
  /// has filled all lines or half of the bytes, so that it is enough to look at every quarter of each.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    const std::uint64_t lines_before = lines_taken_, bytes_before = bytes_taken_;
    ++lines_taken_;
    bytes_taken_ += to_lines(bytes);
    if (bytes != 0) page_->bytes_taken.store(bytes_taken_, std::memory_order_release);
    page_->lines_taken.store(lines_taken_, std::memory_order_release);
    if (((lines_before ^ lines_taken_) & ~(line_mask_ >> 2)) == 0 &&
        ((bytes_before ^ bytes_taken_) & ~(byte_mask_ >> 2)) == 0)
      return false;
    __sync_synchronize();
    return page_->writer_waits.load(std::memory_order_relaxed) != 0 &&
           page_->writer_waits.exchange(0, std::memory_order_seq_cst) != 0;
  }

 private:
  std::uint64_t lines_taken_ = 0, bytes_taken_ = 0;
};

}  // namespace quire::transport::rings
