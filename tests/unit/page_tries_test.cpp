// SPDX-License-Identifier: BSD-3-Clause
// Pages of the natural view that threads come for in vain: when it is time for a claim.
#include "core/minipages/page_tries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace quire::core::page_tries_test {
namespace {

using model::access;

constexpr std::uint64_t second = 1'000'000'000, later = page_tries::at_once_ns + 1;

struct tries_for_pages : testing::Test {
  /// So many tries, the first now, and so much time between two. What the last one leads to; no other leads to
  /// anything.
  std::optional<unsigned> come(unsigned times, std::uint64_t apart_ns = 0, access want = access::write,
                               std::uint64_t page = 7) {
    std::optional<unsigned> level;
    for (unsigned i = 0; i < times; ++i) {
      EXPECT_FALSE(level);
      now += i == 0 ? 0 : apart_ns;
      level = tries.on_try(1, page, want, now);
    }
    return level;
  }
  void grant(access level = access::write, std::uint64_t page = 7) { tries.on_granted(1, page, level, now); }

  page_tries tries{};
  std::uint64_t now = second;
};

TEST_F(tries_for_pages, in_a_row_lead_to_claims_of_rising_levels) {
  for (unsigned level = 0; level < 10; ++level)
    EXPECT_EQ(come(page_tries::before_claim), std::min(level, page_tries::most_levels));
}

TEST_F(tries_for_pages, are_in_a_row_whatever_time_they_take) {
  EXPECT_EQ(come(page_tries::before_claim, 10 * second), 0u);
  now += 10 * second;
  EXPECT_EQ(come(page_tries::before_claim, 10 * second), 1u);
}

TEST_F(tries_for_pages, begin_a_new_row_when_the_page_has_been_used) {
  EXPECT_EQ(come(page_tries::before_claim), 0u);
  EXPECT_EQ(come(page_tries::before_claim - 1), std::nullopt);
  grant();
  now += later;
  EXPECT_EQ(come(page_tries::before_claim), 0u);
}

TEST_F(tries_for_pages, go_on_where_a_thread_has_lost_the_page_unused) {
  EXPECT_EQ(come(page_tries::before_claim - 1), std::nullopt);
  grant();
  now += later - 1;
  EXPECT_EQ(come(1), 0u);
}

/// The grant counts once: what comes after the next try is of the same row however late it is.
TEST_F(tries_for_pages, go_on_after_a_try_that_followed_at_once) {
  EXPECT_EQ(come(1), std::nullopt);
  grant();
  EXPECT_EQ(come(1), std::nullopt);
  now += later;
  EXPECT_EQ(come(page_tries::before_claim - 2), 0u);
}

TEST_F(tries_for_pages, of_writers_go_on_where_readers_use_the_page) {
  for (unsigned i = 0; i + 1 < page_tries::before_claim; ++i) {
    EXPECT_EQ(come(1), std::nullopt);
    grant(access::read);
    now += later;
  }
  EXPECT_EQ(come(1), 0u);
}

/// A writer that has given up leads to one claim, and then readers' rows end as ever.
TEST_F(tries_for_pages, of_readers_are_their_own_behind_a_claim) {
  EXPECT_EQ(come(1), std::nullopt);
  EXPECT_EQ(come(page_tries::before_claim - 1, 0, access::read), 0u);
  for (unsigned i = 0; i < 10; ++i) {
    EXPECT_EQ(come(1, 0, access::read), std::nullopt);
    grant(access::read);
    now += later;
  }
}

TEST_F(tries_for_pages, of_many_pages_do_not_end_each_other) {
  constexpr std::uint64_t pages = 16, apart = 64;
  for (unsigned i = 1; i < page_tries::before_claim; ++i) {
    for (std::uint64_t p = 0; p < pages; ++p) EXPECT_EQ(come(1, 0, access::write, p * apart), std::nullopt);
  }
  for (std::uint64_t p = 0; p < pages; ++p) EXPECT_EQ(come(1, 0, access::write, p * apart), 0u);
}

TEST_F(tries_for_pages, that_are_oldest_make_room) {
  for (std::uint64_t p = 0; p < 100'000; ++p) {
    now += 1;
    EXPECT_EQ(come(1, 0, access::write, p), std::nullopt);
  }
  EXPECT_EQ(come(page_tries::before_claim - 1, 0, access::write, 99'999), 0u);
  EXPECT_EQ(come(page_tries::before_claim - 1, 0, access::write, 0), std::nullopt);
}

TEST_F(tries_for_pages, of_a_region_go_with_it) {
  EXPECT_EQ(come(page_tries::before_claim - 1), std::nullopt);
  tries.forget(2);
  tries.forget(1);
  EXPECT_EQ(come(page_tries::before_claim - 1), std::nullopt);
}

}  // namespace
}  // namespace quire::core::page_tries_test
