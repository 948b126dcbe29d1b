// SPDX-License-Identifier: BSD-3-Clause
// Addresses and numbers for regions: those of regions that have gone are given to others. Pure; node 0, driver's
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/fault_heap.hpp"

namespace quire::region {

/// Addresses from `base` on, in granules: the lowest that are long enough.
class address_space {
 public:
  void open(std::uint64_t base, std::uint64_t end, std::uint64_t granule) noexcept {
    base_ = next_ = base;
    end_ = end;
    granule_ = granule;
  }
  /// Room for `bytes`, `shift` bytes behind the beginning of a granule, or nothing behind it where that does not fit.
  /// False if there is none.
  [[nodiscard]] bool take(std::uint64_t bytes, std::uint64_t shift, std::uint64_t& at) {
    for (auto free = free_.begin(); free != free_.end(); ++free) {
      const auto [first, end] = *free;
      if (bytes > end - first) continue;
      free_.erase(free);
      const std::uint64_t used = place(first, end, bytes, shift, at);
      if (used < end) free_.emplace(used, end);
      return true;
    }
    if (bytes > end_ - next_) return false;
    next_ = place(next_, end_, bytes, shift, at);
    return true;
  }
  /// What take() gave.
  void give_back(std::uint64_t at, std::uint64_t bytes) {
    std::uint64_t first = base_ + (at - base_) / granule_ * granule_, end = std::min(round_up(at + bytes), end_);
    auto after = free_.lower_bound(first);
    if (after != free_.begin() && std::prev(after)->second == first) {
      first = std::prev(after)->first;
      free_.erase(std::prev(after));
    }
    if (after != free_.end() && after->first == end) {
      end = after->second;
      free_.erase(after);
    }
    if (end == next_) {
      next_ = first;
    } else {
      free_.emplace(first, end);
    }
  }
  /// Of a space that nothing was taken from: these are taken, up to `next`.
  void load(std::uint64_t next) noexcept { next_ = next; }
  void load_free(std::uint64_t first, std::uint64_t end) { free_.emplace(first, end); }
  [[nodiscard]] std::uint64_t base() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  [[nodiscard]] std::uint64_t round_up(std::uint64_t address) const noexcept {
    return base_ + (address - base_ + granule_ - 1) / granule_ * granule_;
  }

 private:
  /// Where what is taken ends.
  [[nodiscard]] std::uint64_t place(std::uint64_t first, std::uint64_t end, std::uint64_t bytes, std::uint64_t shift,
                                    std::uint64_t& at) const noexcept {
    at = first + (shift <= end - first - bytes ? shift : 0);
    return std::min(round_up(at + bytes), end);
  }
  std::uint64_t base_ = 0, end_ = 0, next_ = 0, granule_ = 1;
  base::fault_map<std::uint64_t, std::uint64_t> free_{};  ///< below next_, from the first to the end; no two touch
};

/// Numbers from 1 on; of those that have been given back, the one that was first.
class numbers {
 public:
  explicit numbers(std::uint16_t most) noexcept : most_(most) {}
  /// 0: there is none.
  [[nodiscard]] std::uint16_t take() {
    if (!free_.empty()) {
      const std::uint16_t id = free_.front();
      free_.pop_front();
      return id;
    }
    return next_ < most_ ? next_++ : std::uint16_t{0};
  }
  void give_back(std::uint16_t id) { free_.push_back(id); }
  void load(std::uint16_t next) noexcept { next_ = next; }
  [[nodiscard]] std::uint16_t next() const noexcept { return next_; }

 private:
  std::uint16_t most_, next_ = 1;
  base::fault_deque<std::uint16_t> free_{};
};

}  // namespace quire::region
