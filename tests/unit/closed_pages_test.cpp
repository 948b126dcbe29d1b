// SPDX-License-Identifier: BSD-3-Clause
#include "core/closed_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace quire::core::closed_pages_test {
namespace {

constexpr std::uint64_t page = closed_pages::page_bytes;
using runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

runs runs_of(const closed_pages& c, std::uint64_t first, std::uint64_t count) {
  runs found;
  EXPECT_EQ(c.for_each(first * page, count * page,
                       [&](std::uint64_t at, std::uint64_t bytes) {
                         found.emplace_back(at / page, bytes / page);
                         return 0;
                       }),
            0);
  return found;
}

TEST(closed_pages, runs_are_found_across_words) {
  closed_pages c;
  ASSERT_EQ(c.cover(1000 * page), 0);
  EXPECT_FALSE(c.any());
  c.close(60 * page, 10 * page);
  c.close(200 * page, page);
  c.close(60 * page, page);  // twice
  EXPECT_EQ(runs_of(c, 0, 1000), (runs{{60, 10}, {200, 1}}));
  EXPECT_EQ(runs_of(c, 62, 2), (runs{{62, 2}}));
  EXPECT_EQ(runs_of(c, 70, 130), runs{});
  EXPECT_TRUE(c.has(69 * page + 4095));
  EXPECT_FALSE(c.has(70 * page));
  c.open(61 * page, 8 * page);
  EXPECT_EQ(runs_of(c, 0, 1000), (runs{{60, 1}, {69, 1}, {200, 1}}));
  c.open(0, 1000 * page);
  EXPECT_FALSE(c.any());
}

TEST(closed_pages, an_error_ends_the_search) {
  closed_pages c;
  ASSERT_EQ(c.cover(1000 * page), 0);
  c.close(1 * page, page);
  c.close(3 * page, page);
  int calls = 0;
  EXPECT_EQ(c.for_each(0, 10 * page, [&](std::uint64_t, std::uint64_t) { return ++calls; }), 1);
  EXPECT_EQ(calls, 1);
}

TEST(closed_pages, the_next_region_of_a_slot_may_be_larger) {
  closed_pages c;
  for (const std::uint64_t pages : {64u, 32u, 65u, 1u << 18, 1u << 10, 1u << 20}) {
    ASSERT_EQ(c.cover(pages * page), 0);
    EXPECT_EQ(runs_of(c, 0, pages), runs{});
    c.close(0, page);
    c.close((pages - 1) * page, page);
    EXPECT_EQ(runs_of(c, 0, pages), (runs{{0, 1}, {pages - 1, 1}}));
    c.forget(pages * page);
    EXPECT_FALSE(c.any());
  }
}

}  // namespace
}  // namespace quire::core::closed_pages_test
