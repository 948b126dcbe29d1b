// SPDX-License-Identifier: BSD-3-Clause
#include "core/minipages/groups.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/region_slot.hpp"

namespace quire::core::groups_test {
namespace {

using model::fault_outcome;

constexpr unsigned a_page = 6;

/// A node whose faults bring mates along; what others take away is said by the test.
class lone_node {
 public:
  explicit lone_node(grouping how, unsigned units_a_page = a_page) : units_a_page_(units_a_page) {
    EXPECT_EQ(together_.make(how, 10 * units_a_page, units_a_page), 0);
  }

  /// A thread uses a unit: what came by it.
  std::set<std::uint64_t> use(std::uint64_t unit, access want = access::read) {
    const bool here = held(unit) >= want;
    together_.on_fault(unit, want, here ? fault_outcome::local : fault_outcome::started, held(unit) != access::none);
    if (here) ++local_;
    std::set<std::uint64_t> came;
    if (here) return came;
    rights_[unit] = want;
    came.insert(unit);
    const unit_range all = together_.around(unit);
    EXPECT_GE(all.first, unit / units_a_page_ * units_a_page_);
    EXPECT_LE(all.end, unit / units_a_page_ * units_a_page_ + units_a_page_);
    for (std::uint64_t mate = all.first; mate < all.end; ++mate) {
      if (mate == unit) continue;
      const groups::guess how = together_.judge(mate, want, held(mate) == access::none);
      if (how.want == access::none || held(mate) >= how.want) continue;
      together_.on_asked(mate, how);
      rights_[mate] = how.want;
      withheld_ += how.withhold ? 1 : 0;
      came.insert(mate);
    }
    return came;
  }
  /// Others have written all but these.
  void lose_all(std::set<std::uint64_t> but = {}) {
    std::erase_if(rights_, [&](const auto& right) { return !but.contains(right.first); });
  }
  void lose(std::uint64_t unit) { rights_.erase(unit); }
  [[nodiscard]] unsigned withheld() { return std::exchange(withheld_, 0); }

 private:
  [[nodiscard]] access held(std::uint64_t unit) const {
    const auto found = rights_.find(unit);
    return found != rights_.end() ? found->second : access::none;
  }
  groups together_{zeroes};
  std::map<std::uint64_t, access> rights_;
  unsigned units_a_page_, withheld_ = 0, local_ = 0;
};

using units = std::set<std::uint64_t>;
const units second_page{6, 7, 8, 9, 10, 11};

TEST(groups, of_a_page_bring_all_of_it_always) {
  lone_node node(grouping::page);
  for (const access want : {access::read, access::write}) {
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(node.use(8, want), second_page);
      node.lose_all();
    }
  }
  EXPECT_EQ(node.withheld(), 0u);
}

TEST(groups, have_at_most_32_units_of_one_page) {
  lone_node node(grouping::adaptive, 256);
  const units came = node.use(256 + 40);
  EXPECT_EQ(came.size(), groups::most_units);
  EXPECT_EQ(*came.begin(), 256u + 32);
}

TEST(groups, are_whole_pages_at_first_and_stay_so_where_all_is_used) {
  lone_node node(grouping::adaptive);
  EXPECT_EQ(node.use(8), second_page);
  EXPECT_EQ(node.withheld(), 5u);
  unsigned withheld = 0;
  constexpr unsigned rounds = 100;
  for (unsigned round = 0; round < rounds; ++round) {
    for (const std::uint64_t unit : second_page)
      EXPECT_TRUE(node.use(unit).empty());  // the first touch of what is withheld is noticed
    node.lose_all();
    EXPECT_EQ(node.use(8), second_page);
    withheld += node.withheld();
  }
  EXPECT_LE(withheld, 5 * (rounds / groups::probe_every + 1));
  EXPECT_GE(withheld, 5 * (rounds / groups::probe_every - 1));
}

TEST(groups, leave_what_was_brought_for_nothing) {
  lone_node node(grouping::adaptive);
  EXPECT_EQ(node.use(8), second_page);
  (void)node.use(9);
  node.lose_all();
  for (unsigned round = 0; round < 20; ++round) {
    EXPECT_EQ(node.use(8), (units{8, 9}));
    (void)node.use(9);
    node.lose_all();
  }
}

TEST(groups, learn_from_other_pages) {
  lone_node node(grouping::adaptive);
  (void)node.use(8);
  node.lose_all();
  EXPECT_EQ(node.use(8), units{8});
  node.lose_all();
  EXPECT_EQ(node.use(20), units{20});
  lone_node other(grouping::adaptive);
  for (const std::uint64_t unit : second_page) (void)other.use(unit, access::write);
  other.lose_all();
  for (const std::uint64_t unit : second_page) (void)other.use(unit, access::write);
  EXPECT_EQ(other.use(20, access::write).size(), a_page);
}

TEST(groups, notice_that_a_mate_is_used_no_longer) {
  lone_node node(grouping::adaptive);
  for (unsigned round = 0; round < 5; ++round) {
    (void)node.use(8);
    (void)node.use(9);
    node.lose_all();
  }
  unsigned brought = 0;
  for (unsigned round = 0; round < 100; ++round) {
    brought += node.use(8).contains(9) ? 1 : 0;
    node.lose_all();
  }
  EXPECT_LE(brought, groups::probe_every + 1);
}

TEST(groups, take_in_what_is_used_together_after_all) {
  lone_node node(grouping::adaptive);
  (void)node.use(8);
  node.lose_all();
  unsigned rounds = 0;
  for (bool together = false; !together && rounds < 100; ++rounds) {
    together = node.use(8) == units{8, 9};
    EXPECT_EQ(node.use(9), together ? units{} : units{9});
    node.lose_all();
  }
  EXPECT_GE(rounds, 3u);  // twice is chance
  EXPECT_LT(rounds, 100u);
  for (unsigned round = 0; round < 20; ++round) {
    EXPECT_EQ(node.use(8), (units{8, 9}));
    EXPECT_TRUE(node.use(9).empty());
    node.lose_all();
  }
}

TEST(groups, do_not_take_in_what_is_used_much_later) {
  lone_node node(grouping::adaptive);
  (void)node.use(8);
  node.lose_all();
  for (unsigned round = 0; round < 20; ++round) {
    EXPECT_EQ(node.use(8), units{8});
    for (std::uint64_t other = 0; other < groups::most_units; ++other) {
      (void)node.use(20 + other % 2 * 6, access::write);
      node.lose(20 + other % 2 * 6);
    }
    EXPECT_EQ(node.use(9), units{9});
    node.lose_all();
  }
}

TEST(groups, of_writes_are_single_until_a_page_was_written_together) {
  lone_node node(grouping::adaptive);
  for (const std::uint64_t unit : second_page) EXPECT_EQ(node.use(unit, access::write), units{unit});
  node.lose_all();
  EXPECT_EQ(node.use(7, access::write).size(), 5u);  // the first of before had not been left by any
}

TEST(groups, keep_writers_of_neighbours_apart) {
  lone_node node(grouping::adaptive);
  for (unsigned round = 0; round < 100; ++round) {
    EXPECT_EQ(node.use(8, access::write), units{8});
    node.lose(8);
  }
}

TEST(groups, count_what_was_taken_away_before_its_fault_as_brought_for_nothing) {
  lone_node node(grouping::adaptive);
  (void)node.use(8);
  node.lose(9);
  EXPECT_FALSE(node.use(9).contains(10));  // 10 is on its way to be judged; 9 itself was of no use
  node.lose_all({10});
  EXPECT_FALSE(node.use(8).contains(9));
}

}  // namespace
}  // namespace quire::core::groups_test
