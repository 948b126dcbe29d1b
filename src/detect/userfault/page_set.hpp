// SPDX-License-Identifier: BSD-3-Clause
// A set of pages within watched ranges of addresses: a bit a page, found without a search and without a lock, and made
// of memory that costs nothing until touched. Used by scan_detector for the pages that are permitted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quire::detect {

class page_set {
 public:
  page_set() = default;
  page_set(const page_set&) = delete;
  page_set& operator=(const page_set&) = delete;
  ~page_set();

  /// Makes room for the pages of a range. Any application thread; 0, EINVAL for addresses that no process can have,
  /// ENOMEM.
  [[nodiscard]] int cover(std::uint64_t address, std::uint64_t bytes) noexcept;

  // For pages that are covered; all async-signal-safe. Threads may change different pages at a time.

  /// Whether one of them was in before.
  bool insert(std::uint64_t address, std::uint64_t bytes) noexcept;
  void erase(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// The first page of [address, end) that is in (or, of the second, is not); `end` if there is none.
  [[nodiscard]] std::uint64_t next_in(std::uint64_t address, std::uint64_t end) const noexcept;
  [[nodiscard]] std::uint64_t next_out(std::uint64_t address, std::uint64_t end) const noexcept;

 private:
  using word = std::atomic<std::uint64_t>;
  static constexpr unsigned page_shift = 12, part_shift = 30, address_bits = 48;
  static constexpr std::uint64_t part_count = std::uint64_t{1} << (address_bits - part_shift);
  static constexpr std::uint64_t words_per_part = std::uint64_t{1} << (part_shift - page_shift - 6);

  [[nodiscard]] word& word_of(std::uint64_t page) const noexcept {
    std::atomic<word*>* const parts = parts_.load(std::memory_order_acquire);
    word* const part = parts[page >> (part_shift - page_shift)].load(std::memory_order_acquire);
    return part[page / 64 % words_per_part];
  }
  [[nodiscard]] std::uint64_t next(std::uint64_t address, std::uint64_t end, std::uint64_t flip) const noexcept;
  template <class Change>
  static void for_each_word(std::uint64_t address, std::uint64_t bytes, Change&& change);

  std::atomic<std::atomic<word*>*> parts_{nullptr};  ///< one a GiB of addresses
};

}  // namespace quire::detect
