// SPDX-License-Identifier: BSD-3-Clause
// A set of units: a bit each, in memory that costs nothing where no bit was set. Driver's thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/region_slot.hpp"
#include "protocol/contract/table_memory.hpp"

namespace quire::core {

class unit_bits {
 public:
  /// For units below `units`. 0 or errno.
  [[nodiscard]] int make(std::uint64_t units) noexcept { return words_.make((units + 63) / 64); }
  void add(std::uint64_t unit) noexcept {
    words_.data()[unit / 64] |= std::uint64_t{1} << unit % 64;
    first_ = std::min(first_, unit / 64);
    end_ = std::max(end_, unit / 64 + 1);
  }
  void remove(std::uint64_t unit) noexcept {
    if (unit / 64 >= first_ && unit / 64 < end_) words_.data()[unit / 64] &= ~(std::uint64_t{1} << unit % 64);
  }
  [[nodiscard]] bool has(std::uint64_t unit) const noexcept {
    return unit / 64 >= first_ && unit / 64 < end_ && (words_.data()[unit / 64] >> unit % 64 & 1) != 0;
  }
  /// f(unit) for each.
  template <class F>
  void for_each(F&& f) const noexcept {
    for (std::uint64_t word = first_; word < end_; ++word) {
      for (std::uint64_t left = words_.data()[word]; left != 0; left &= left - 1)
        f(word * 64 + static_cast<unsigned>(std::countr_zero(left)));
    }
  }
  void clear() noexcept {
    if (first_ < end_) std::fill(words_.data() + first_, words_.data() + end_, 0);
    first_ = ~std::uint64_t{0};
    end_ = 0;
  }
  /// Those of another set, too.
  void add(const unit_bits& others) noexcept {
    others.for_each([this](std::uint64_t unit) { add(unit); });
  }

 private:
  protocol::table<std::uint64_t> words_{zeroes};
  std::uint64_t first_ = ~std::uint64_t{0}, end_ = 0;  ///< words that may have bits
};

}  // namespace quire::core
