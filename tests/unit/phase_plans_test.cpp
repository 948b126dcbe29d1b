// SPDX-License-Identifier: BSD-3-Clause
#include "core/plans/phase_plans.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace quire::core {
namespace {

using use = phase_plans::use;

/// A node that plans: which units it asks for, and what its threads do.
class plan : public testing::Test {
 protected:
  static constexpr model::region_id region{3};
  phase_plans all;

  /// Begins a phase; what its plan asks for, as numbers of units.
  std::vector<std::uint64_t> begin(std::uint64_t key = 7) {
    all.begin(key);
    std::vector<std::uint64_t> units;
    needs.clear();
    while (const auto n = all.next()) {
      EXPECT_EQ(n->region, region);
      needs.push_back(*n);
      units.push_back(n->unit);
      all.note_asked(true);
    }
    return units;
  }
  void fault(std::uint64_t unit, bool write = false, use how = use::asked) { all.note(region, unit, write, how); }
  /// Two executions, in which threads fault on these units.
  void learn(const std::vector<std::uint64_t>& units, bool write = false) {
    for (int i = 0; i < 2; ++i) {
      (void)begin();
      for (const auto unit : units) fault(unit, write);
    }
  }
  std::vector<phase_plans::need> needs;
};
using units = std::vector<std::uint64_t>;

TEST_F(plan, asks_for_what_two_executions_in_a_row_have_used) {
  EXPECT_EQ(begin(), units{});
  fault(9);
  fault(4);
  EXPECT_EQ(begin(), units{});
  fault(4);
  fault(5);
  EXPECT_EQ(begin(), units{4});
}

TEST_F(plan, is_of_its_phase) {
  learn({1, 2});
  EXPECT_EQ(begin(8), units{});
  EXPECT_EQ(begin(7), (units{1, 2}));
}

TEST_F(plan, looks_first_and_then_has_the_right_that_was_used) {
  learn({1, 2});
  EXPECT_EQ(begin(), (units{1, 2}));
  EXPECT_TRUE(all.looks(region, 1) && all.looks(region, 2));
  EXPECT_FALSE(all.looks(region, 3));
  EXPECT_TRUE(needs[0].looks && needs[1].looks);
  fault(1, false, use::here);
  fault(2, false, use::came);
  fault(2, true, use::here);
  EXPECT_EQ(begin(), (units{1, 2}));
  EXPECT_FALSE(all.looks(region, 1) || all.looks(region, 2));
  EXPECT_FALSE(needs[0].write);
  EXPECT_TRUE(needs[1].write);
  EXPECT_EQ(all.count().unused, 0u);
}

TEST_F(plan, leaves_out_what_was_looked_at_and_not_used) {
  learn({1, 2});
  (void)begin();
  fault(2, false, use::here);
  EXPECT_EQ(begin(), units{2});
  EXPECT_EQ(all.count().unused, 1u);
  for (int i = 0; i < 5; ++i) {  // guesses do not bring it back, faults do
    fault(1, false, use::ahead);
    EXPECT_EQ(begin(), units{2}) << i;
  }
  for (int i = 0; i < 3; ++i) {
    fault(1);
    const auto asked = begin();
    EXPECT_EQ(asked, i < 2 ? units{2} : (units{1, 2})) << i;
  }
}

TEST_F(plan, leaves_out_what_was_taken_away_before_it_was_used) {
  learn({1});
  (void)begin();
  fault(1);  // another node had to be asked again
  EXPECT_EQ(begin(), units{});
  EXPECT_EQ(all.count().unused, 1u);
}

TEST_F(plan, looks_at_the_first_of_a_neighbourhood_for_all) {
  const units all_of_it{8, 9, 10, 15, 17};
  learn(all_of_it);
  EXPECT_EQ(begin(), all_of_it);
  for (const auto& n : needs) EXPECT_EQ(n.looks, n.unit == 8 || n.unit == 17) << n.unit;
  EXPECT_TRUE(all.looks(region, 8));
  EXPECT_FALSE(all.looks(region, 9));
  fault(8, false, use::here);
  fault(17, false, use::here);
  EXPECT_EQ(begin(), all_of_it);
  for (const auto& n : needs) EXPECT_FALSE(n.looks) << n.unit;
}

TEST_F(plan, looks_at_each_where_the_first_was_not_used) {
  learn({8, 9, 10});
  (void)begin();
  EXPECT_EQ(begin(), (units{9, 10}));
  EXPECT_TRUE(needs[0].looks && needs[1].looks);
  fault(10, false, use::here);
  EXPECT_EQ(begin(), units{10});
  EXPECT_EQ(all.count().unused, 2u);
}

TEST_F(plan, looks_now_and_then_at_one_of_each_neighbourhood) {
  units all_of_it;
  for (std::uint64_t u = 0; u < 2 * phase_plans::neighbours; ++u) all_of_it.push_back(u);
  learn(all_of_it);
  (void)begin();
  for (const auto u : all_of_it) fault(u, false, use::here);
  std::vector<unsigned> looked(all_of_it.size());
  for (unsigned i = 3; i < phase_plans::neighbours * phase_plans::looked_at + 3; ++i) {
    ASSERT_EQ(begin(), all_of_it);
    for (const auto& n : needs) {
      if (!n.looks) continue;
      ++looked[n.unit];
      fault(n.unit, false, use::here);
    }
  }
  EXPECT_EQ(looked, std::vector<unsigned>(all_of_it.size(), 1));
}

TEST_F(plan, has_what_read_ahead_has_brought_and_what_is_written_at_home) {
  for (int i = 0; i < 2; ++i) {
    (void)begin();
    fault(1, false, use::ahead);
    fault(2, true, use::here);
  }
  EXPECT_EQ(begin(), (units{1, 2}));
}

TEST_F(plan, forgets_what_nobody_wants_any_more) {
  learn({1});
  for (int i = 0; i < 8; ++i) {
    all.begin(7);
    ASSERT_TRUE(all.next().has_value()) << i;  // it is here already: nothing is asked
  }
  EXPECT_EQ(begin(), units{});
}

TEST_F(plan, of_too_many_units_is_none) {
  learn({1});
  (void)begin();
  for (std::uint64_t u = 0; u <= phase_plans::most_units; ++u) fault(u);
  EXPECT_FALSE(all.records());
  EXPECT_EQ(begin(), units{});
}

TEST_F(plan, keeps_the_newest_phases) {
  const std::uint64_t many = phase_plans::most_units;
  const std::uint64_t phases = phase_plans::most_in_all / many + 2;
  for (std::uint64_t key = 1; key <= phases; ++key) {
    for (int i = 0; i < 2; ++i) {
      all.begin(key);
      for (std::uint64_t u = 0; u < many; ++u) fault(u);
    }
  }
  all.begin(1);
  EXPECT_FALSE(all.next().has_value());
  all.begin(phases);
  EXPECT_TRUE(all.next().has_value());
}

TEST_F(plan, has_no_phase_of_which_nothing_is_known) {
  all.begin(0);
  EXPECT_FALSE(all.records());
  fault(1);
  EXPECT_FALSE(all.next().has_value());
}

}  // namespace
}  // namespace quire::core
