// SPDX-License-Identifier: BSD-3-Clause
// Addresses and numbers of regions that come and go (src/region/space.hpp).
#include "region/space.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace quire::region::region_space_test {
namespace {

constexpr std::uint64_t granule = 1 << 21, base = 0x300000000000;

TEST(region_space, gives_the_lowest_addresses_that_are_long_enough) {
  address_space s;
  s.open(base, base + 8 * granule, granule);
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  ASSERT_TRUE(s.take(2 * granule, 0, a));
  ASSERT_TRUE(s.take(4096, 64 << 10, b));
  ASSERT_TRUE(s.take(granule, 0, c));
  EXPECT_EQ(a, base);
  EXPECT_EQ(b, base + 2 * granule + (64 << 10));
  EXPECT_EQ(c, base + 3 * granule);
  s.give_back(a, 2 * granule);
  ASSERT_TRUE(s.take(3 * granule, 0, d));  // does not fit into what is free
  EXPECT_EQ(d, base + 4 * granule);
  s.give_back(b, 4096);  // now it does
  ASSERT_TRUE(s.take(3 * granule, 64 << 10, a));
  EXPECT_EQ(a, base) << "where there is no room for a shift there is none";
}

TEST(region_space, is_as_new_when_all_is_given_back) {
  address_space s;
  s.open(base, base + 8 * granule, granule);
  std::uint64_t at[4];
  for (auto& one : at) ASSERT_TRUE(s.take(granule + 1, 4096, one));
  std::uint64_t none = 0;
  EXPECT_FALSE(s.take(granule, 0, none));
  for (const int i : {1, 3, 0, 2}) s.give_back(at[i], granule + 1);
  EXPECT_EQ(s.next(), base);
  ASSERT_TRUE(s.take(8 * granule, 0, none));
  EXPECT_EQ(none, base);
}

TEST(region_space, never_gives_an_address_twice) {
  std::mt19937_64 draw(7);
  address_space s;
  s.open(base, base + 64 * granule, granule);
  std::map<std::uint64_t, std::uint64_t> live;
  for (int i = 0; i < 20'000; ++i) {
    if (draw() % 2 == 0 && !live.empty()) {
      auto one = live.begin();
      std::advance(one, static_cast<std::ptrdiff_t>(draw() % live.size()));
      s.give_back(one->first, one->second);
      live.erase(one);
      continue;
    }
    const std::uint64_t bytes = 4096 * (1 + draw() % 2000);
    std::uint64_t at = 0;
    if (!s.take(bytes, draw() % 8 * 65536, at)) continue;
    ASSERT_GE(at, base);
    ASSERT_LE(at + bytes, base + 64 * granule);
    const auto after = live.lower_bound(at);
    const auto granule_of = [](std::uint64_t address) { return address / granule; };
    ASSERT_TRUE(after == live.end() || granule_of(after->first) > granule_of(at + bytes - 1))
        << "two regions share a granule";
    ASSERT_TRUE(after == live.begin() ||
                granule_of(std::prev(after)->first + std::prev(after)->second - 1) < granule_of(at));
    live.emplace(at, bytes);
  }
  for (const auto& [at, bytes] : live) s.give_back(at, bytes);
  EXPECT_EQ(s.next(), base);
}

TEST(region_numbers, are_used_again_when_they_are_given_back_and_no_sooner) {
  numbers n(4);
  EXPECT_EQ(n.take(), 1);
  EXPECT_EQ(n.take(), 2);
  EXPECT_EQ(n.take(), 3);
  EXPECT_EQ(n.take(), 0);
  n.give_back(2);
  n.give_back(1);
  EXPECT_EQ(n.take(), 2);
  EXPECT_EQ(n.take(), 1);
  EXPECT_EQ(n.take(), 0);
}

}  // namespace
}  // namespace quire::region::region_space_test
