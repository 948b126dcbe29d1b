// SPDX-License-Identifier: BSD-3-Clause
// Time limits of callers, in nanoseconds.
#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace quire::base::clock_test {
namespace {

TEST(limits, of_any_length_stay_limits) {
  EXPECT_EQ(limit_ns(0), 0);
  EXPECT_EQ(limit_ns(1), 1'000'000);
  EXPECT_EQ(limit_ns(-1), 0);
  EXPECT_EQ(limit_ns(INT64_MIN), 0);
  constexpr std::int64_t exact_ms = INT64_MAX / 1'000'000;
  EXPECT_EQ(limit_ns(exact_ms), exact_ms * 1'000'000);
  EXPECT_EQ(limit_ns(exact_ms + 1), INT64_MAX);
  EXPECT_EQ(limit_ns(INT64_MAX), INT64_MAX);
}

TEST(limits, from_now_on_are_in_the_future) {
  EXPECT_GT(now_ns() + static_cast<std::uint64_t>(limit_ns(INT64_MAX)), now_ns());
}

}  // namespace
}  // namespace quire::base::clock_test
