// SPDX-License-Identifier: BSD-3-Clause
// `quire run --auto`: a program that a setting makes faster gets it, one that no setting helps keeps what it had, and
// nothing is applied unseen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "command.hpp"

namespace quire::test::auto_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const std::string program = std::string(QUIRE_PROGRAMS) + "/auto_program";

class Auto : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/quire-auto-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string advice() const { return folder_ + "/advice"; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(advice());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] command_result run_auto(const std::string& how, const std::string& runs,
                                        const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{QUIRE_TOOL,       "run",      "-n",    "2", "--timeout", "50",
                                   "--auto=" + runs, "--advice", advice()};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {program, how});
    return run(words, {}, "", 200);
  }
  std::string folder_;
};

TEST_F(Auto, KeepsWhatMakesAProgramFaster) {
  const auto result = run_auto("small", "20");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the next run tries heap_views=16, because"));
  EXPECT_THAT(result.err, HasSubstr("without it: kept"));
  EXPECT_THAT(content(), HasSubstr("kept heap_views 16"));
  EXPECT_THAT(result.err, HasSubstr("nothing is left to try"));
  EXPECT_THAT(result.err, HasSubstr("times as fast"));
  EXPECT_THAT(result.err, HasSubstr("to have it without --auto: quire run --set heap_views=16"));
  EXPECT_FALSE(fs::exists(advice() + ".records"));
  // What is kept is there in the next run, and nothing is tried any more.
  const auto next = run_auto("small", "5");
  EXPECT_THAT(next.err, HasSubstr("with what is kept; nothing is left to try"));
}

TEST_F(Auto, TakesBackWhatDoesNot) {
  const auto result = run_auto("sparse", "20");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the next run tries unit=64K, because"));
  EXPECT_THAT(content(), HasSubstr("taken-back unit 64K"));
  EXPECT_THAT(result.err, HasSubstr("the next run tries unit=16K, because"));
  EXPECT_THAT(result.err, HasSubstr("nothing is left to try"));
}

TEST_F(Auto, ASettingOfTheUsersIsLeftAlone) {
  const auto result = run_auto("sparse", "20", {"--set", "unit=4K"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(content(), Not(HasSubstr(" unit ")));
}

/// Nor does what it has found out before win over that.
TEST_F(Auto, ASettingThatTheUserMakesLaterWins) {
  const auto first = run_auto("sparse", "2");
  ASSERT_THAT(content(), HasSubstr("open unit 64K")) << first.err;
  const auto result = run_auto("sparse", "1", {"--set", "unit=4K"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(content(), Not(HasSubstr(" unit ")));
}

TEST_F(Auto, HasNothingToSayOfAProgramThatWaitsForNothing) {
  const auto first = run_auto("still", "1");
  EXPECT_THAT(first.err, HasSubstr("the next one is the same"));
  const auto second = run_auto("still", "1");
  EXPECT_THAT(second.err, HasSubstr("nothing is left to try"));
  EXPECT_THAT(content(), Not(HasSubstr("open")));
}

TEST_F(Auto, ASettingWithWhichTheProgramFailsIsTakenBack) {
  const auto result = run_auto("fail", "20");
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("tried unit=64K: the job has ended with status 3, so it is taken back"));
  EXPECT_THAT(content(), HasSubstr("taken-back unit 64K"));
  EXPECT_EQ(run_auto("fail", "1").status, 3) << "nor can it have 16K";
  EXPECT_EQ(run_auto("fail", "1").status, 0) << "the program as it is";
}

TEST_F(Auto, AnotherJobBeginsAnew) {
  (void)run_auto("still", "1");
  EXPECT_THAT(run_auto("sparse", "1").err,
              HasSubstr("is of another program, build, arguments or nodes: it begins anew"));
  std::ofstream(advice()) << "something else";
  EXPECT_THAT(run_auto("still", "1").err, HasSubstr("is not what `quire run --auto` writes: it begins anew"));
}

TEST_F(Auto, RefusesWhatItCannotDo) {
  EXPECT_EQ(run_auto("still", "0").status, 125);
  EXPECT_EQ(run_auto("still", "101").status, 125);
  EXPECT_EQ(run_auto("still", "x").status, 125);
  EXPECT_EQ(run({QUIRE_TOOL, "run", "-n", "1", "--auto", "--advice", "/proc/advice", program}).status, 125);
}

}  // namespace
}  // namespace quire::test::auto_test
