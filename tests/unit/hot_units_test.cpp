// SPDX-License-Identifier: BSD-3-Clause
// Units by the time that threads waited for them, in a table of fixed size.
#include <gtest/gtest.h>

#include <thread>

#include "core/fault.hpp"
#include "core/hot_units.hpp"

namespace quire::core::hot_units_test {
namespace {

TEST(hot_units, counts_faults_writes_and_time) {
  hot_units hot;
  EXPECT_TRUE(hot.most(10).empty());
  hot.add(3, 7, true, 100);
  hot.add(3, 7, false, 50);
  hot.add(0, 7, false, 20);
  const auto most = hot.most(10);
  ASSERT_EQ(most.size(), 2u);
  EXPECT_EQ(most[0].region, 3);
  EXPECT_EQ(most[0].unit, 7u);
  EXPECT_EQ(most[0].faults, 2u);
  EXPECT_EQ(most[0].writes, 1u);
  EXPECT_EQ(most[0].ns, 150u);
  EXPECT_EQ(most[1].region, 0);
  EXPECT_EQ(hot.most(1).size(), 1u);
}

TEST(hot_units, the_last_unit_of_the_last_region_is_told_as_it_is) {
  hot_units hot;
  hot.add(4095, (std::uint64_t{1} << 46) - 1, true, 1);
  const auto most = hot.most(1);
  ASSERT_EQ(most.size(), 1u);
  EXPECT_EQ(most[0].region, 4095);
  EXPECT_EQ(most[0].unit, (std::uint64_t{1} << 46) - 1);
}

/// A sweep over more units than there are places does not push out those that are waited for again and again.
TEST(hot_units, what_is_waited_for_often_stays) {
  hot_units hot;
  for (std::uint64_t round = 0; round < 200; ++round) {
    for (std::uint64_t unit = 0; unit < 8; ++unit) hot.add(1, unit, true, 1'000);
    for (std::uint64_t i = 0; i < 500; ++i) hot.add(1, 1'000 + round * 500 + i, false, 10);
  }
  const auto most = hot.most(8);
  ASSERT_EQ(most.size(), 8u);
  for (const auto& one : most) {
    EXPECT_LT(one.unit, 8u);
    EXPECT_GT(one.ns, 150'000u);
  }
}

TEST(hot_units, threads_count_at_the_same_time) {
  hot_units hot;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 20'000; ++i) hot.add(0, i % 16, i % 2 == 0, 1);
    });
  for (auto& thread : threads) thread.join();
  std::uint64_t faults = 0;
  for (const auto& one : hot.most(100)) faults += one.faults;
  EXPECT_EQ(faults, 80'000u);
}

}  // namespace
}  // namespace quire::core::hot_units_test
