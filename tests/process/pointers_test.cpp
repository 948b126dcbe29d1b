// SPDX-License-Identifier: BSD-3-Clause
// QUIRE_CHECK=pointers: words in shared memory that point to private memory are reported, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "command.hpp"

namespace quire::test::pointers_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

command_result run_case(const std::string& what,
                        const std::vector<std::string>& options = {"--set", "check=pointers"}) {
  std::vector<std::string> words = {QUIRE_TOOL, "run", "-n", "2", "--timeout", "40"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {QUIRE_PROGRAMS "/pointers_program", what});
  return run(words);
}

std::ptrdiff_t lines_with(const std::string& text, const std::string& part) {
  std::ptrdiff_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(pointers, to_private_memory_are_reported_with_both_addresses_once) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--detect", "segv"}, {"--detect", "thread"}, {"--set", "consistency=release"}}) {
    std::vector<std::string> all = {"--set", "check=pointers"};
    all.insert(all.end(), options.begin(), options.end());
    const auto result = run_case("some", all);
    ASSERT_EQ(result.status, 0) << result.err;
    int seen = 0;
    for (const auto& stored : matches_of(result.out, "stored (0x[0-9a-f]+) at (0x[0-9a-f]+)")) {
      const std::string names[] = {"[heap]", "[stack]", "/pointers_program (a global or static variable)"};
      EXPECT_THAT(result.err,
                  ContainsRegex("quire\\[1\\]: QUIRE_CHECK: the word at " + stored[2] +
                                " \\(region 0, byte [0-9]+\\) looks like a pointer to private memory of this node: " +
                                stored[1] + ", in [^\n]*"));
      ASSERT_LT(seen, 3);
      EXPECT_THAT(result.err, HasSubstr(names[seen++]));
    }
    EXPECT_EQ(seen, 3);
    // The page's home has written it, too, and may find the words of the other: where the addresses are alike.
    EXPECT_EQ(lines_with(result.err, "quire[1]: QUIRE_CHECK: the word at"), 3) << result.err;
    EXPECT_THAT(
        result.err,
        HasSubstr(
            "quire[1]: QUIRE_CHECK: 3 words of shared memory looked like pointers to private memory of this node\n"));
  }
}

TEST(pointers, of_which_there_are_many_are_counted_and_the_allocation_is_named) {
  const auto result = run_case("many");
  EXPECT_EQ(lines_with(result.err, "looks like"), 8);
  EXPECT_THAT(result.err,
              ContainsRegex("; the first block on this page was allocated by .*pointers_program\\+0x[0-9a-f]+\n"));
  EXPECT_THAT(result.err, HasSubstr("QUIRE_CHECK: 100 words of shared memory looked like"));
}

TEST(pointers, of_a_clean_program_and_without_the_option_are_not_reported) {
  for (const auto& result : {run_case("none"), run_case("some", {})}) {
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
  }
}

TEST(pointers, of_one_node_are_not_valid_on_another_without_randomised_addresses) {
  const auto result = run_case("addresses");
  if (result.status == 77) GTEST_SKIP() << "addresses cannot be fixed here";
  std::map<std::string, std::set<std::string>> places;
  for (const auto& place : matches_of(result.out, "(small|heap|mapping|stack) (0x[0-9a-f]+)"))
    places[place[1]].insert(place[2]);
  ASSERT_EQ(places.size(), 4u) << result.out;
  for (const auto& [name, where] : places)
    EXPECT_EQ(where.size(), 2u) << name << " is at the same address on both nodes: " << result.out;
}

TEST(pointers, in_a_program_that_another_process_serves_are_refused) {
  const auto result = run_case("some", {"--set", "check=pointers", "--pool", "fork"});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("choose another pool than 'fork'"));
}

}  // namespace
}  // namespace quire::test::pointers_test
