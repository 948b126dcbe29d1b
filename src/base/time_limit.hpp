// SPDX-License-Identifier: BSD-3-Clause
// Time limits as callers give them.
#pragma once

#include <cstdint>

namespace quire::base {

/// A time limit that a caller gave in milliseconds. More than nanoseconds can say (292 years) is as long as they can;
/// less than 0 is 0.
[[nodiscard]] constexpr std::int64_t limit_ns(std::int64_t limit_ms) noexcept {
  constexpr std::int64_t each = 1'000'000;
  if (limit_ms < 0) return 0;
  return limit_ms > INT64_MAX / each ? INT64_MAX : limit_ms * each;
}

}  // namespace quire::base
