// SPDX-License-Identifier: BSD-3-Clause
#include "core/read_lines.hpp"

#include <gtest/gtest.h>

namespace quire::core {
namespace {

constexpr model::region_id region{3};
constexpr std::uint64_t region_units = 100'000, most = 1024;

class lines : public testing::Test {
 protected:
  read_lines all;

  /// A row of 128 units, which is asked for by faults at what has not come ahead: how many faults that takes.
  unsigned faults_of_row(std::uint64_t& next, std::uint64_t end) {
    unsigned faults = 0;
    while (next < end) {
      const auto plan = all.on_fault(region, next, region_units, most);
      EXPECT_TRUE(plan.count == 0 || plan.first == next + 1);
      next += 1 + plan.count;
      ++faults;
    }
    return faults;
  }
};

TEST_F(lines, grow_as_they_go_on) {
  std::uint64_t at = 1000;
  for (const std::uint64_t count : {0, 1, 3, 7, 15, 31, 63, 64, 64}) {
    const auto plan = all.on_fault(region, at, region_units, most);
    EXPECT_EQ(plan.first, at + 1);
    EXPECT_EQ(plan.count, count);
    EXPECT_EQ(plan.withhold_all, count < read_ahead::trusted_window);
    EXPECT_TRUE(plan.withhold_some);
    at += 1 + count;
  }
}

TEST_F(lines, go_on_side_by_side) {
  constexpr std::uint64_t planes = 128, row = 256, part = 128;
  std::uint64_t next[planes];
  for (std::uint64_t p = 0; p < planes; ++p) next[p] = p * row;
  unsigned faults = 0;
  for (std::uint64_t column = 0; column < part; ++column) {
    for (std::uint64_t p = 0; p < planes; ++p) {
      std::uint64_t& at = next[p];
      if (at == p * row + column) faults += faults_of_row(at, at + 1);
    }
  }
  EXPECT_LE(faults, planes * 9);  // some share a slot with another line
  EXPECT_GE(faults, planes * 7);
}

TEST_F(lines, end_with_their_region) {
  constexpr std::uint64_t few = 10;
  EXPECT_EQ(all.on_fault(region, 6, few, most).count, 0u);
  EXPECT_EQ(all.on_fault(region, 7, few, most).count, 1u);
  EXPECT_EQ(all.on_fault(region, 9, few, most).count, 0u);
}

TEST_F(lines, bring_no_more_than_they_may) {
  std::uint64_t at = 0;
  for (int i = 0; i < 8; ++i) {
    const auto plan = all.on_fault(region, at, region_units, 2);
    EXPECT_LE(plan.count, 2u);
    at += 1 + plan.count;
  }
}

TEST_F(lines, are_of_one_region) {
  EXPECT_EQ(all.on_fault(region, 10, region_units, most).count, 0u);
  EXPECT_EQ(all.on_fault(model::region_id{4}, 11, region_units, most).count, 0u);
  EXPECT_EQ(all.on_fault(region, 11, region_units, most).count, 1u);
}

TEST_F(lines, are_not_begun_by_what_lies_apart) {
  for (std::uint64_t u = 0; u < 5000; u += 3) EXPECT_EQ(all.on_fault(region, u, region_units, most).count, 0u) << u;
}

}  // namespace
}  // namespace quire::core
