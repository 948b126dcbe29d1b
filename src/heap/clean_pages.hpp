// SPDX-License-Identifier: BSD-3-Clause
// Which free pages are known to be zero although they were handed out before: some ranges, the largest ones where there
// are too many. Pages that are taken are none of them any more. Called by page_runs with the heap's lock held.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace quire::heap {

class clean_pages {
 public:
  void add(std::uint64_t first, std::uint64_t end) noexcept {
    for (std::size_t i = 0; i < count_;) {
      const range other = ranges_[i];
      if (other.end < first || end < other.first) {
        ++i;
        continue;
      }
      first = std::min(first, other.first);
      end = std::max(end, other.end);
      ranges_[i] = ranges_[--count_];
    }
    keep({first, end});
  }

  void remove(std::uint64_t first, std::uint64_t end) noexcept {
    for (std::size_t i = 0; i < count_;) {
      const range had = ranges_[i];
      if (had.end <= first || end <= had.first) {
        ++i;
        continue;
      }
      ranges_[i] = ranges_[--count_];
      if (had.first < first) keep({had.first, first});
      if (end < had.end) keep({end, had.end});
      i = 0;
    }
  }

  /// Where the last page of [first, end) ends that is not known to be zero; `first`: there is none.
  [[nodiscard]] std::uint64_t dirty_end(std::uint64_t first, std::uint64_t end) const noexcept {
    for (std::size_t i = 0; i < count_ && end > first;) {
      const range& one = ranges_[i++];
      if (one.first >= end || end > one.end) continue;
      end = std::max(first, one.first);
      i = 0;
    }
    return end;
  }

  struct range {
    std::uint64_t first = 0, end = 0;
    [[nodiscard]] std::uint64_t pages() const noexcept { return end - first; }
  };
  /// The longest one within [first, end).
  [[nodiscard]] range longest(std::uint64_t first, std::uint64_t end) const noexcept {
    range found{first, first};
    for (std::size_t i = 0; i < count_; ++i) {
      const range part{std::max(first, ranges_[i].first), std::min(end, ranges_[i].end)};
      if (part.first < part.end && part.pages() > found.pages()) found = part;
    }
    return found;
  }

 private:
  void keep(range one) noexcept {
    if (count_ < ranges_.size()) {
      ranges_[count_++] = one;
      return;
    }
    const auto least = std::min_element(ranges_.begin(), ranges_.end(),
                                        [](const range& a, const range& b) { return a.pages() < b.pages(); });
    if (least->pages() < one.pages()) *least = one;
  }

  std::array<range, 64> ranges_{};
  std::size_t count_ = 0;
};

}  // namespace quire::heap
