// SPDX-License-Identifier: BSD-3-Clause
// A layout that src does not know, to show what one takes: the first half of a region has units of one page, the other
// half larger ones. So what is written finely and what is swept lie in one region.
#pragma once

#include "core/layouts.hpp"

namespace quire::toy {

class two_sizes final : public core::layout_body {
 public:
  two_sizes(std::uint64_t bytes, std::uint64_t large) : half_(bytes / 2), large_(large), small_units_(half_ / page) {}

  [[nodiscard]] std::uint64_t units() const noexcept override { return small_units_ + half_ / large_; }
  [[nodiscard]] std::uint64_t unit_of(std::uint64_t offset) const noexcept override {
    return offset < half_ ? offset / page : small_units_ + (offset - half_) / large_;
  }
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t unit) const noexcept override {
    return unit < small_units_ ? unit * page : half_ + (unit - small_units_) * large_;
  }
  [[nodiscard]] std::uint64_t most_bytes() const noexcept override { return large_; }

  static std::unique_ptr<core::layout_body> make(const core::layout_request& about) {
    if (about.bytes % (2 * about.unit_bytes) != 0) return nullptr;  // halves of whole units
    return std::make_unique<two_sizes>(about.bytes, about.unit_bytes);
  }

 private:
  static constexpr std::uint64_t page = 4096;
  std::uint64_t half_, large_, small_units_;
};

inline constexpr core::layout_row two_sizes_row{.id = 7, .name = "two sizes", .make = two_sizes::make};

}  // namespace quire::toy
