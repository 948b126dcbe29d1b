// SPDX-License-Identifier: BSD-3-Clause
// Sums of structs that consist of 64-bit counters and nothing else: a counter that is added to such a struct is summed
// like the others.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace quire::base {

/// Adds each counter of `more` to the one of `sum`.
template <class Counters>
constexpr void add_counts(Counters& sum, const Counters& more) noexcept {
  static_assert(std::is_trivially_copyable_v<Counters> && std::has_unique_object_representations_v<Counters> &&
                sizeof(Counters) % sizeof(std::uint64_t) == 0);
  using words = std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)>;
  auto all = std::bit_cast<words>(sum);
  const auto other = std::bit_cast<words>(more);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] += other[i];
  sum = std::bit_cast<Counters>(all);
}

}  // namespace quire::base
