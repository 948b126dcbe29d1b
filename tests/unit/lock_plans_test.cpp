// SPDX-License-Identifier: BSD-3-Clause
#include "core/plans/lock_plans.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace quire::core {
namespace {

/// A node whose threads hold locks, and what it asks for with them.
class locks : public testing::Test {
 protected:
  static constexpr model::region_id region{3};
  lock_plans all;

  std::vector<std::uint64_t> begin(std::uint64_t lock) {
    EXPECT_TRUE(all.enter(lock));
    EXPECT_TRUE(all.begin());
    std::vector<std::uint64_t> asked;
    while (const auto n = all.next()) {
      asked.push_back(n->unit);
      all.plans().note_asked(true);
    }
    return asked;
  }
  void use(const std::vector<std::uint64_t>& used, phase_plans::use how = phase_plans::use::asked) {
    for (const auto unit : used) all.note(region, unit, true, how);
  }
  /// Two critical sections that use these units.
  void learn(std::uint64_t lock, const std::vector<std::uint64_t>& used) {
    for (int i = 0; i < 2; ++i) {
      (void)begin(lock);
      use(used);
      EXPECT_TRUE(all.end(lock));
    }
  }
};
using units = std::vector<std::uint64_t>;

TEST_F(locks, what_was_used_under_one_comes_with_it) {
  learn(5, {1, 2});
  EXPECT_EQ(begin(6), units{});
  EXPECT_TRUE(all.end(6));
  EXPECT_EQ(begin(5), (units{1, 2}));
}

TEST_F(locks, what_is_used_under_several_comes_with_none) {
  learn(5, {1, 2});
  learn(6, {2, 3});
  EXPECT_EQ(begin(5), units{1});
  use({1}, phase_plans::use::here);
  EXPECT_TRUE(all.end(5));
  EXPECT_EQ(begin(6), units{3});
}

TEST_F(locks, one_section_at_a_time_is_looked_at) {
  EXPECT_TRUE(all.enter(5));
  EXPECT_FALSE(all.enter(6));
  EXPECT_FALSE(all.end(6));
  EXPECT_TRUE(all.end(5));
  EXPECT_FALSE(all.end(5));
  EXPECT_FALSE(all.begin());
  EXPECT_TRUE(all.enter(6));
}

TEST_F(locks, a_section_that_never_ends_is_given_up) {
  EXPECT_TRUE(all.enter(5));
  EXPECT_TRUE(all.begin());
  unsigned others = 1;
  while (!all.enter(6)) ++others;
  EXPECT_EQ(others, lock_plans::most_passed_over);
  EXPECT_FALSE(all.end(5));
  EXPECT_FALSE(all.plans().records());
  EXPECT_TRUE(all.end(6));
}

TEST_F(locks, a_section_that_uses_nothing_is_no_execution) {
  learn(5, {1});
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(all.enter(5));
    EXPECT_TRUE(all.end(5));
  }
  EXPECT_EQ(begin(5), units{1});
  EXPECT_FALSE(all.begin());
}

TEST_F(locks, a_lock_brings_so_many_units_at_most) {
  units many;
  for (std::uint64_t u = 0; u < 2 * lock_plans::most_units; ++u) many.push_back(u);
  learn(5, many);
  EXPECT_EQ(begin(5).size(), lock_plans::most_units);
}

TEST_F(locks, the_locks_of_so_many_units_are_known) {
  learn(5, {1});
  (void)begin(6);
  for (std::uint64_t u = 0; u < lock_plans::most_known; ++u) use({1'000 + u});
  EXPECT_TRUE(all.end(6));
  EXPECT_EQ(begin(5), units{1});
}

}  // namespace
}  // namespace quire::core
