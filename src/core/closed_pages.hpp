// SPDX-License-Identifier: BSD-3-Clause
// Pages of a region that threads of this node may not access, whatever the protocols allow (quire_pages_close): a bit a
// page, in memory that costs nothing until touched. The driver changes them; any thread looks, also in a fault.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/view_map.hpp"
#include "os/memory.hpp"

namespace quire::core {

class closed_pages {
 public:
  static constexpr std::uint64_t page_bytes = view_map::page_bytes;

  closed_pages() = default;
  closed_pages(const closed_pages&) = delete;
  closed_pages& operator=(const closed_pages&) = delete;
  ~closed_pages() {
    for (table t = last_; t.words != nullptr;) {
      const table before = t.before();
      os::unmap(t.words, t.bytes);
      t = before;
    }
  }

  /// Makes room for all pages of a region. 0 or errno. Where an earlier region of this slot was smaller its table
  /// stays, as a thread may be reading it: the next one is twice as large at least.
  [[nodiscard]] int cover(std::uint64_t region_bytes) noexcept {
    const std::uint64_t wanted = (region_bytes / page_bytes / 64 + 1) * sizeof(word) + sizeof(table);
    if (wanted <= last_.bytes) return 0;
    int error = 0;
    table made{nullptr, std::max(wanted, 2 * last_.bytes)};
    made.words = static_cast<word*>(os::map_table(made.bytes, error));
    if (made.words == nullptr) return error;
    made.before() = last_;
    last_ = made;
    words_.store(made.words, std::memory_order_release);
    return 0;
  }

  // Whole pages, by offsets in the region that is covered.
  void close(std::uint64_t first, std::uint64_t bytes) noexcept {
    change(first, bytes, [this](word& w, std::uint64_t mask) { count_ += number(mask & ~w.fetch_or(mask)); });
  }
  void open(std::uint64_t first, std::uint64_t bytes) noexcept {
    if (any())
      change(first, bytes, [this](word& w, std::uint64_t mask) { count_ -= number(mask & w.fetch_and(~mask)); });
  }
  [[nodiscard]] bool any() const noexcept { return count_.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] bool has(std::uint64_t offset) const noexcept {
    return any() && (words_.load(std::memory_order_acquire)[offset / page_bytes / 64] >> offset / page_bytes % 64 & 1);
  }
  /// Calls use(first, bytes) for the runs of closed pages in a range, as long as it returns 0; what it has returned.
  template <class Use>
  int for_each(std::uint64_t first, std::uint64_t bytes, Use&& use) const noexcept {
    return for_each(first, bytes, 0, use);
  }
  /// The same for the runs of pages that are not closed.
  template <class Use>
  int for_each_open(std::uint64_t first, std::uint64_t bytes, Use&& use) const noexcept {
    return any() ? for_each(first, bytes, ~std::uint64_t{0}, use) : use(first, bytes);
  }
  /// The region goes.
  void forget(std::uint64_t region_bytes) noexcept { open(0, region_bytes); }

 private:
  using word = std::atomic<std::uint64_t>;
  struct table {
    word* words = nullptr;
    std::uint64_t bytes = 0;
    /// The smaller one before it, which its last bytes tell.
    [[nodiscard]] table& before() const noexcept {
      return *reinterpret_cast<table*>(reinterpret_cast<std::byte*>(words) + bytes - sizeof(table));
    }
  };

  /// With `flip` of ones: of those that are not closed.
  template <class Use>
  int for_each(std::uint64_t first, std::uint64_t bytes, std::uint64_t flip, Use&& use) const noexcept {
    const std::uint64_t end = first + bytes;
    for (std::uint64_t at = first / page_bytes * page_bytes; at < end;) {
      const std::uint64_t begin = next(at, end, flip);
      if (begin == end) return 0;
      at = next(begin, end, ~flip);
      if (const int error = use(begin, at - begin); error != 0) return error;
    }
    return 0;
  }
  static std::uint64_t number(std::uint64_t bits) noexcept {
    return static_cast<std::uint64_t>(__builtin_popcountll(bits));
  }
  template <class Change>
  void change(std::uint64_t first, std::uint64_t bytes, Change&& to) noexcept {
    word* const words = words_.load(std::memory_order_relaxed);
    const std::uint64_t end = (first + bytes) / page_bytes;
    for (std::uint64_t page = first / page_bytes; page < end;) {
      const std::uint64_t stop = std::min(end, (page | 63) + 1), count = stop - page;
      to(words[page / 64], (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << page % 64);
      page = stop;
    }
  }
  /// The first page of [at, end) that is closed; with `flip` of ones, that is not. `end` if there is none.
  [[nodiscard]] std::uint64_t next(std::uint64_t at, std::uint64_t end, std::uint64_t flip) const noexcept {
    const word* const words = words_.load(std::memory_order_acquire);
    for (std::uint64_t page = at / page_bytes; page * page_bytes < end; page = (page | 63) + 1) {
      const std::uint64_t left = (words[page / 64].load() ^ flip) >> page % 64;
      if (left != 0) return std::min(end, (page + static_cast<std::uint64_t>(__builtin_ctzll(left))) * page_bytes);
    }
    return end;
  }

  table last_{};
  std::atomic<word*> words_{nullptr};    ///< of that
  std::atomic<std::uint64_t> count_{0};  ///< of closed pages
};

}  // namespace quire::core
