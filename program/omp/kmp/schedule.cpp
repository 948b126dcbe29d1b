// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/kmp/schedule.hpp"

#include <algorithm>

#include "program/process/fail.hpp"

namespace quire::program::kmp {

requested requested_by(id kind, std::int64_t chunk) noexcept {
  using schedule = loop::schedule;
  constexpr id to_no_merge = 128, to_ordered = 32;
  id plain = kind & ~modifiers;
  if (plain > no_merge_lower) plain -= to_no_merge;
  const bool ordered = plain > ordered_lower && plain <= ordered_upper;
  if (ordered) plain -= to_ordered;
  const auto much = static_cast<std::uint64_t>(std::max<std::int64_t>(chunk, 1));
  switch (plain) {
    case static_even:
    case automatic:
      return {schedule::blocks, 0, ordered};
    case static_chunked:
    case static_balanced_chunked:
      return {schedule::rounds, much, ordered};
    case dynamic_chunked:
    case static_steal:
      return {schedule::taken, much, ordered};
    case guided_chunked:
    case guided_iterative:
    case guided_analytical:
    case guided_simd:
    case trapezoidal:
      return {schedule::guided, much, ordered};
    case by_user:
    case by_user_simd:
      if (!own_variables().scheduled) return {schedule::blocks, 0, ordered};
      return {own_variables().schedule, std::max<std::uint64_t>(own_variables().chunk, 1), ordered};
    default:
      fail("a loop has a schedule that this version does not know", QUIRE_UNSUPPORTED);
  }
}

}  // namespace quire::program::kmp
