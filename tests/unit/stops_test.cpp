// SPDX-License-Identifier: BSD-3-Clause
// Nodes that are stopped by a signal, by a clock of the test's own (src/bootstrap/launcher/stops).
#include "bootstrap/launcher/stops.hpp"

#include <gtest/gtest.h>

namespace quire::bootstrap::launcher::stops_test {
namespace {

constexpr std::uint64_t second = 1'000'000'000, limit = 8 * second;

/// Looks as often as it is due until `end`; who is found, and when.
std::pair<int, std::uint64_t> run(stops& s, std::uint64_t end) {
  for (std::uint64_t now = s.next_look(); now <= end; now = s.next_look())
    if (const int found = s.look(now); found >= 0) return {found, now};
  return {-1, end};
}

TEST(Stops, OneThatIsStoppedIsFoundAfterTheLimit) {
  stops s(3, limit);
  s.begin(5 * second);
  EXPECT_EQ(run(s, 100 * second).first, -1);
  s.saw(1, true);
  const auto [node, when] = run(s, 300 * second);
  EXPECT_EQ(node, 1);
  EXPECT_GE(when, 100 * second + limit);
  EXPECT_LE(when, 100 * second + limit + limit / 4);
  EXPECT_GE(s.stopped_ns(1), limit);
}

TEST(Stops, OneThatGoesOnInTimeIsNot) {
  stops s(2, limit);
  s.begin(0);
  for (int round = 0; round < 20; ++round) {
    s.saw(0, true);
    EXPECT_EQ(run(s, s.next_look() + limit - 3 * second).first, -1) << round;
    s.saw(0, false);
    EXPECT_FALSE(s.is_stopped(0));
    EXPECT_EQ(s.look(s.next_look()), -1);
  }
}

TEST(Stops, TimeInWhichNobodyLookedDoesNotCount) {
  stops s(2, limit);
  s.begin(0);
  s.saw(1, true);
  EXPECT_EQ(s.look(second), -1);
  EXPECT_EQ(s.look(1000 * second), -1) << "whoever looks was stopped itself, with the whole job perhaps";
  s.saw(1, false);
  EXPECT_EQ(run(s, 2000 * second).first, -1);
}

TEST(Stops, WhoeverLooksRarelyStillFindsIt) {
  stops s(1, limit);
  s.begin(0);
  s.saw(0, true);
  int looks = 0;
  for (std::uint64_t now = 0; looks < 100; now += 20 * second, ++looks)
    if (s.look(now) == 0) break;
  EXPECT_LT(looks, 10);
  EXPECT_GT(looks, 4);
}

TEST(Stops, ALimitOfZeroLooksAtNobody) {
  stops s(1, 0);
  s.begin(7);
  s.saw(0, true);
  EXPECT_EQ(s.next_look(), UINT64_MAX);
  EXPECT_EQ(s.look(1000 * second), -1);
}

}  // namespace
}  // namespace quire::bootstrap::launcher::stops_test
