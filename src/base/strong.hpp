// SPDX-License-Identifier: BSD-3-Clause
// Strong integers: two numbers of different meaning never mix silently (page number, node, thread, offset, version).
#pragma once

#include <compare>
#include <cstddef>
#include <functional>

namespace quire::base {

/// An integer of type `Rep` that only compares with, and is only assigned from, its own `Tag`.
template <class Tag, class Rep>
class strong {
 public:
  using rep = Rep;
  constexpr strong() noexcept = default;
  constexpr explicit strong(Rep value) noexcept : value_(value) {}
  [[nodiscard]] constexpr Rep value() const noexcept { return value_; }
  friend constexpr auto operator<=>(strong, strong) noexcept = default;
  constexpr strong& operator++() noexcept {
    ++value_;
    return *this;
  }

 private:
  Rep value_{};
};

}  // namespace quire::base

template <class Tag, class Rep>
struct std::hash<quire::base::strong<Tag, Rep>> {
  std::size_t operator()(quire::base::strong<Tag, Rep> v) const noexcept { return std::hash<Rep>{}(v.value()); }
};
