// SPDX-License-Identifier: BSD-3-Clause
// Whom the launcher takes for lost when nodes accuse each other.
#include <gtest/gtest.h>

#include "bootstrap/launcher/accusations.hpp"

namespace quire::bootstrap::launcher::accusations_test {
namespace {

accusations said(std::initializer_list<accusation> all) {
  accusations a;
  for (const auto& one : all) a.add(one);
  return a;
}

TEST(Accusations, OneAlone) {
  const auto a = said({{0, 1, 4000}});
  EXPECT_EQ(a.worst().whom, 1);
  EXPECT_EQ(a.rival().by, -1);
}

TEST(Accusations, OneThatIsCutOffAccusesOthersAndIsAccusedByMore) {
  const auto a = said({{1, 2, 4000}, {1, 0, 4000}, {0, 1, 4100}, {2, 1, 4100}});
  EXPECT_EQ(a.worst().whom, 1);
  EXPECT_EQ(a.worst().silent_ms, 4100u);
  EXPECT_EQ(a.rival().by, -1);
}

TEST(Accusations, TheSameTwiceCountsOnce) {
  const auto a = said({{3, 2, 1}, {3, 2, 2}, {0, 1, 3}, {3, 1, 4}});
  EXPECT_EQ(a.worst().whom, 1);
}

TEST(Accusations, TwoThatDoNotHearEachOtherAreBothNamed) {
  const auto a = said({{1, 0, 4000}, {0, 1, 4100}});
  EXPECT_EQ(a.worst().whom, 0);
  EXPECT_EQ(a.rival().whom, 1);
  EXPECT_TRUE(a.speaks(0) && a.speaks(1));
}

TEST(Accusations, TwoThatHangSayNothing) {
  const auto a = said({{0, 1, 4000}, {0, 2, 4100}});
  EXPECT_EQ(a.worst().whom, 1);
  EXPECT_EQ(a.rival().whom, 2);
  EXPECT_FALSE(a.speaks(1) || a.speaks(2));
}

TEST(Accusations, WhatIsExplainedCountsNoMore) {
  auto a = said({{1, 0, 4000}, {0, 1, 4100}, {2, 1, 4100}});
  a.drop(1);
  EXPECT_TRUE(a.empty()) << "nor what it said itself";
}

TEST(Accusations, AreTakenBackByWhoMadeThem) {
  auto a = said({{0, 1, 4000}, {2, 1, 4100}});
  a.withdraw(0, 1);
  a.withdraw(2, 0);  // it has not said that
  EXPECT_EQ(a.worst().by, 2);
  EXPECT_FALSE(a.speaks(0));
  a.withdraw(2, 1);
  EXPECT_TRUE(a.empty());
}

TEST(Accusations, OneThatIsStoppedIsNamedAloneAndWhereNoneIsAllCount) {
  auto a = said({{1, 2, 1500}, {3, 2, 1500}, {1, 0, 1600}});
  a.narrow([](int node) { return node == 3; });
  EXPECT_EQ(a.worst().whom, 2);
  a.narrow([](int node) { return node == 0; });
  EXPECT_EQ(a.worst().whom, 0) << "though more have accused another, which has no core";
  EXPECT_EQ(a.rival().by, -1);
}

TEST(Accusations, AreToldWithWhoAndHowLong) {
  EXPECT_NE(text_of({3, 1, 4130}, 1'700'000'000).find("node 3 had heard nothing from it for 4.1 s, since "),
            std::string::npos);
  EXPECT_EQ(text_of({3, 1, 0}, 0), " cannot be reached any more: node 3 has lost its connection to it");
}

}  // namespace
}  // namespace quire::bootstrap::launcher::accusations_test
