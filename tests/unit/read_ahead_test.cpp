// SPDX-License-Identifier: BSD-3-Clause
// Adaptive read-ahead: what counts as a sweep, how windows grow, which unit is the marker.
#include <gtest/gtest.h>

#include <vector>

#include "core/counters.hpp"
#include "core/read_ahead.hpp"

namespace {

using quire::core::read_ahead;
using quire::core::read_ahead_plan;
using quire::model::region_id;

constexpr std::uint64_t units = 100'000;
constexpr std::uint64_t window = 256;
const region_id region{0};

read_ahead_plan fault(read_ahead& r, std::uint64_t unit, region_id in = region) {
  return r.on_fault(in, unit, units, window);
}
read_ahead_plan local_fault(read_ahead& r, std::uint64_t unit) {
  return r.on_fault(region, unit, units, window, false, true);
}
read_ahead_plan write_fault(read_ahead& r, std::uint64_t unit) { return r.on_fault(region, unit, units, window, true); }

TEST(read_ahead, single_faults_ask_for_nothing) {
  read_ahead r;
  std::uint64_t unit = 1;
  for (int i = 0; i < 1000; ++i) {
    unit = (unit * 48271) % 65537;
    EXPECT_EQ(fault(r, unit).count, 0u) << "at unit " << unit;
  }
}

TEST(read_ahead, a_pair_of_neighbours_is_no_sweep) {
  read_ahead r;
  EXPECT_EQ(fault(r, 10).count, 0u);
  EXPECT_EQ(fault(r, 11).count, 0u);
}

TEST(read_ahead, the_third_neighbour_starts_a_small_window_that_is_withheld) {
  read_ahead r;
  fault(r, 10);
  fault(r, 11);
  const auto plan = fault(r, 12);
  EXPECT_EQ(plan.first, 13u);
  EXPECT_EQ(plan.count, read_ahead::first_window);
  EXPECT_TRUE(plan.withhold_all);
}

TEST(read_ahead, sweep_that_writes_what_it_read_is_asked_for_to_be_written) {
  read_ahead r;
  for (std::uint64_t unit = 0; unit < 2; ++unit) {
    fault(r, unit);
    EXPECT_EQ(write_fault(r, unit).count, 0u);
  }
  auto plan = fault(r, 2);
  EXPECT_TRUE(plan.will_write);
  write_fault(r, 2);
  for (int i = 0; i < 6; ++i) {  // only the marker tells, by a local fault
    plan = fault(r, plan.first);
    EXPECT_TRUE(plan.will_write) << i;
    write_fault(r, plan.first - 1);
  }
  plan = fault(r, plan.first);
  EXPECT_TRUE(plan.will_write);
  plan = fault(r, plan.first);
  EXPECT_FALSE(plan.will_write) << "the marker before was only read";
}

TEST(read_ahead, sweep_that_only_reads_is_not) {
  read_ahead r;
  fault(r, 0);
  fault(r, 1);
  auto plan = fault(r, 2);
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(plan.will_write);
    plan = fault(r, plan.first);
  }
}

TEST(read_ahead, write_behind_the_sweep_is_its_own) {
  read_ahead r;
  fault(r, 0);
  fault(r, 1);
  const auto plan = fault(r, 2);
  r.on_mapped_up_to(region, 2, 7);
  EXPECT_EQ(write_fault(r, 3).count, 0u);
  EXPECT_EQ(write_fault(r, 4).count, 0u);
  EXPECT_EQ(fault(r, plan.first + plan.count).first, plan.first + plan.count + 1) << "the sweep goes on";
}

TEST(read_ahead, windows_double_follow_each_other_and_stop_at_the_largest) {
  read_ahead r;
  fault(r, 0);
  fault(r, 1);
  auto plan = fault(r, 2);
  std::uint64_t expected = read_ahead::first_window;
  for (int i = 0; i < 12; ++i) {
    // The next fault is the marker of the window before: its first unit.
    const auto next = fault(r, plan.first);
    expected = std::min(expected * 2, window);
    EXPECT_EQ(next.first, plan.first + plan.count) << "no gap and no overlap";
    EXPECT_EQ(next.count, expected);
    EXPECT_EQ(next.withhold_all, expected < read_ahead::trusted_window);
    plan = next;
  }
  EXPECT_EQ(plan.count, window);
}

TEST(read_ahead, the_same_unit_again_asks_for_nothing) {
  read_ahead r;
  fault(r, 0);
  fault(r, 1);
  fault(r, 2);
  EXPECT_EQ(fault(r, 2).count, 0u);
}

TEST(read_ahead, never_past_the_end_of_the_region) {
  read_ahead r;
  fault(r, units - 5);
  fault(r, units - 4);
  const auto plan = fault(r, units - 3);
  EXPECT_EQ(plan.first, units - 2);
  EXPECT_EQ(plan.count, 2u);
  fault(r, units - 2);
  EXPECT_EQ(fault(r, units - 1).count, 0u);
}

TEST(read_ahead, several_arrays_at_a_time_are_several_sweeps) {
  read_ahead r;
  const std::uint64_t starts[] = {0, 10'000, 20'000};
  for (std::uint64_t i = 0; i < 2; ++i) {
    for (const auto start : starts) EXPECT_EQ(fault(r, start + i).count, 0u);
  }
  for (const auto start : starts) EXPECT_EQ(fault(r, start + 2).first, start + 3);
}

TEST(read_ahead, the_same_unit_number_of_another_region_is_another_sweep) {
  read_ahead r;
  fault(r, 0);
  fault(r, 1);
  EXPECT_EQ(fault(r, 2, region_id{1}).count, 0u);
}

TEST(read_ahead, what_is_mapped_around_a_local_fault_counts_as_touched) {
  read_ahead r;
  fault(r, 0);
  fault(r, 1);
  fault(r, 2);
  EXPECT_EQ(r.around(region, 2), read_ahead::first_window);
  r.on_mapped_up_to(region, 2, 7);  // units 3 to 6 were mapped
  fault(r, 7);
  EXPECT_EQ(r.around(region, 7), 2 * read_ahead::first_window);
}

/// A node goes over its own part: what comes behind it is another node's, and none of its business.
TEST(read_ahead, a_sweep_over_what_lies_here_asks_for_nothing) {
  read_ahead r;
  for (std::uint64_t unit = 0; unit < 1000;) {
    EXPECT_EQ(local_fault(r, unit).count, 0u) << "at unit " << unit;
    const std::uint64_t next = unit + 1 + r.around(region, unit);
    r.on_mapped_up_to(region, unit, next);
    unit = next;
  }
}

TEST(read_ahead, more_and_more_of_what_lies_here_is_mapped_around) {
  read_ahead r;
  std::uint64_t unit = 0, around = 0;
  for (int i = 0; i < 10; ++i) {
    local_fault(r, unit);
    const std::uint64_t now = r.around(region, unit);
    EXPECT_GE(now, around);
    around = now;
    r.on_mapped_up_to(region, unit, unit + 1 + now);
    unit += 1 + now;
  }
  EXPECT_EQ(around, read_ahead::most_around);
}

TEST(read_ahead, where_it_comes_to_what_lies_elsewhere_it_begins_with_a_small_window_at_once) {
  read_ahead r;
  for (std::uint64_t unit = 0; unit < 100; ++unit) local_fault(r, unit);
  const auto plan = fault(r, 100);
  EXPECT_EQ(plan.first, 101u);
  EXPECT_EQ(plan.count, read_ahead::first_window);
  EXPECT_TRUE(plan.withhold_all);
}

TEST(read_ahead, a_local_fault_on_what_was_asked_for_goes_on_asking) {
  read_ahead r;
  fault(r, 0);
  fault(r, 1);
  auto plan = fault(r, 2);
  for (int i = 0; i < 4; ++i) {
    const auto next = local_fault(r, plan.first);
    EXPECT_EQ(next.first, plan.first + plan.count);
    EXPECT_EQ(next.count, 2 * plan.count);
    plan = next;
  }
}

/// As the engine does it: what lies next to a local fault is mapped before the plan is looked at.
TEST(read_ahead, a_sweep_that_comes_to_what_lies_here_stops_asking) {
  for (const std::uint64_t elsewhere : {3, 4, 5, 16, 40}) {
    read_ahead r;
    constexpr std::uint64_t end = 300;  // of what lies here
    std::uint64_t asked_beyond = 0;
    std::vector<bool> mapped(end), arrives(end);
    for (std::uint64_t unit = 0; unit < end; ++unit) {
      if (mapped[unit]) continue;
      const bool local = unit >= elsewhere || arrives[unit];
      const auto plan = r.on_fault(region, unit, units, window, false, local);
      std::uint64_t next = unit + 1;
      const std::uint64_t around = local ? r.around(region, unit) : 0;
      for (; next < end && next <= unit + around && (next >= elsewhere || arrives[next]); ++next) mapped[next] = true;
      if (next > unit + 1) r.on_mapped_up_to(region, unit, next);
      bool asked = false;
      for (std::uint64_t u = plan.first; u < plan.first + plan.count; ++u) {
        const bool asks = u < elsewhere || u >= end;
        asked |= asks;
        if (u < elsewhere) arrives[u] = true;
        if (u >= end) ++asked_beyond;
      }
      if (plan.count != 0 && !asked) r.on_nothing_asked(region, plan);
    }
    EXPECT_EQ(asked_beyond, 0u) << elsewhere << " units elsewhere";
  }
}

/// As far as windows and markers go a sweep down asks for what one up asks for.
TEST(sweeps, that_go_down_are_those_that_go_up_turned_round) {
  quire::core::sweeps up, down;
  const auto turned = [](std::uint64_t unit) { return units - 1 - unit; };
  std::uint64_t unit = 0, asked = 0, faults = 0;
  while (unit < 5000) {
    const auto a = up.on_any_fault(region, unit, units, window, false, false);
    const auto b = down.on_any_fault(region, turned(unit), units, window, false, false);
    ASSERT_EQ(a.count, b.count) << unit;
    ++faults;
    if (a.count != 0) {
      EXPECT_FALSE(a.down);
      EXPECT_TRUE(b.down);
      EXPECT_EQ(b.first + b.count - 1, turned(a.first));
      EXPECT_EQ(a.withhold_all, b.withhold_all);
    }
    asked += a.count;
    unit = a.count != 0 ? a.first : unit + 1;
  }
  EXPECT_GT(asked, 4000u);
  EXPECT_LT(faults, 60u);
}

TEST(sweeps, that_go_down_end_at_the_first_unit) {
  quire::core::sweeps s;
  std::uint64_t least = units;
  for (std::uint64_t unit = 40; unit-- != 0;) {
    const auto plan = s.on_any_fault(region, unit, units, window, false, false);
    ASSERT_LE(plan.first + plan.count, units);
    if (plan.count != 0) least = std::min(least, plan.first);
  }
  EXPECT_EQ(least, 0u);
}

TEST(sweeps, that_come_to_what_lies_here_stop_asking_whichever_way_they_go) {
  quire::core::sweeps s;
  for (std::uint64_t unit = 1000; unit > 990; --unit) {
    const auto plan = s.on_any_fault(region, unit, units, window, false, unit < 997);
    if (plan.count != 0) s.on_nothing_asked_of(region, plan, units);
  }
  EXPECT_GE(s.before(region, 991, units), 4u);
  EXPECT_EQ(s.on_any_fault(region, 990, units, window, false, true).count, 0u);
}

TEST(read_ahead, no_more_is_mapped_around_than_a_window_may_have) {
  read_ahead r;
  for (std::uint64_t unit = 0; unit < 100; ++unit) {
    r.on_fault(region, unit, units, 1, false, true);
    EXPECT_LE(r.around(region, unit), 1u);
  }
}

}  // namespace
