// SPDX-License-Identifier: BSD-3-Clause
// What `quire predict --auto` chooses.
#include "predict/choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quire::tools::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using words = std::vector<std::string>;

std::optional<double> never(unsigned, const words&) { return std::nullopt; }
void nobody(const std::string&) {}

TEST(Choice, TheLeastNumberOfNodesThatIsNearlyFastest) {
  EXPECT_EQ(choose({{1, 100}, {2, 60}, {4, 59}}, {}, never, nobody).nodes, 2u);
  EXPECT_EQ(choose({{1, 100}, {2, 60}, {4, 40}}, {}, never, nobody).nodes, 4u);
  EXPECT_EQ(choose({{1, 100}, {2, 160}}, {}, never, nobody).nodes, 1u);
}

TEST(Choice, OptionsAreKeptWhereTheyGain) {
  const auto predict = [](unsigned nodes, const words& options) -> std::optional<double> {
    double ns = nodes == 1 ? 120 : 60;
    for (const auto& word : options) ns -= word == "good" ? 20 : word == "poor" ? 1 : word == "bad" ? -10 : 0;
    return ns;
  };
  words said;
  const auto hear = [&](const std::string& one) { said.push_back(one); };
  const auto made = choose({{1, 100}, {2, 60}},
                           {{{"--set", "bad"}, ""}, {{"--set", "good"}, "because"}, {{"poor"}, ""}}, predict, hear);
  EXPECT_EQ(made.nodes, 2u);
  EXPECT_THAT(made.options, ElementsAre("--set", "good"));
  EXPECT_EQ(made.ns, 40);
  EXPECT_THAT(said, ElementsAre(HasSubstr("no gain"), HasSubstr("tried --set good on 2 nodes, because: "),
                                HasSubstr("no gain"), HasSubstr("with --set good ")));
}

/// One node is faster than two; with an option two are.
TEST(Choice, OptionsAreTriedWhereNodesExchangeSomething) {
  const auto predict = [](unsigned nodes, const words&) -> std::optional<double> { return 100.0 / nodes; };
  const auto made = choose({{1, 100}, {2, 160}, {4, 200}}, {{{"x"}, ""}}, predict, nobody);
  EXPECT_EQ(made.nodes, 4u);
  EXPECT_EQ(made.ns, 25);
  EXPECT_THAT(made.options, ElementsAre("x"));
}

TEST(Choice, WhereNoOptionHelpsOneNodeNeedsNone) {
  const auto predict = [](unsigned nodes, const words&) -> std::optional<double> { return nodes == 1 ? 100 : 150; };
  const auto made = choose({{1, 100}, {2, 160}}, {{{"x"}, ""}}, predict, nobody);
  EXPECT_EQ(made.nodes, 1u);
  EXPECT_THAT(made.options, IsEmpty());
}

TEST(Choice, WhatDoesNotRunIsNotTaken) {
  words said;
  const auto made = choose({{1, 100}, {2, 60}}, {{{"x"}, ""}}, never, [&](const auto& one) { said.push_back(one); });
  EXPECT_THAT(made.options, IsEmpty());
  EXPECT_THAT(said, ElementsAre(HasSubstr("does not run so")));
}

TEST(Choice, WhatIsRightForSomeProgramsOnlyIsToldAndNotTaken) {
  const auto predict = [](unsigned, const words&) -> std::optional<double> { return 10; };
  words said;
  const auto made = choose({{1, 100}, {2, 60}}, {{{"--memory", "mixed"}, "", "it has no races"}}, predict,
                           [&](const auto& one) { said.push_back(one); });
  EXPECT_THAT(made.options, IsEmpty());
  EXPECT_EQ(made.ns, 60);
  EXPECT_THAT(said, ElementsAre(HasSubstr("not taken, since it is right only if it has no races")));
}

}  // namespace
}  // namespace quire::tools::predict
