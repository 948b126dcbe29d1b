// SPDX-License-Identifier: BSD-3-Clause
// Exceptions that nobody catches: one whole line a node, whoever else writes at that moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <sstream>

#include "command.hpp"

namespace quire::test::uncaught_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string program = QUIRE_PROGRAMS "/uncaught_program";

command_result run_case(const std::string& what, const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {QUIRE_TOOL, "run", "-n", "2", "--timeout", "40"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {program, what});
  return run(words);
}

TEST(uncaught, exceptions_of_two_nodes_at_once_are_two_whole_lines) {
  const std::string begin = "error: uncaught exception (anonymous namespace)::own_error: node ";
  for (int round = 0; round < 3; ++round) {
    const auto result = run_case("all", {"--on-failure", "notify"});  // nobody ends the other one
    EXPECT_NE(result.status, 0);
    int told = 0;
    std::istringstream lines(result.err);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("exception") == line.npos) continue;
      EXPECT_TRUE(line.starts_with("quire[0]: " + begin + "0 has had enoughxxx") ||
                  line.starts_with("quire[1]: " + begin + "1 has had enoughxxx"))
          << line;
      EXPECT_TRUE(line.ends_with("xxx...")) << line;
      ++told;
    }
    EXPECT_EQ(told, 2) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("terminate called")));
  }
}

TEST(uncaught, exceptions_end_the_node_by_abort_wherever_it_is) {
  for (const std::string pool : {"memfd", "fork"}) {
    const auto result = run_case("thread", {"--pool", pool});
    EXPECT_EQ(result.status, 128 + SIGABRT) << result.err;
    EXPECT_THAT(result.err,
                HasSubstr("quire[1]: error: uncaught exception (anonymous namespace)::own_error: in a thread\n"));
    EXPECT_THAT(result.err, HasSubstr("node 1 "));
  }
}

TEST(uncaught, exceptions_of_any_type_and_ends_without_one_are_told) {
  EXPECT_THAT(run_case("number").err, HasSubstr("quire[1]: error: uncaught exception int\n"));
  EXPECT_THAT(run_case("no_exception").err,
              HasSubstr("quire[1]: error: std::terminate() was called without an exception"));
}

TEST(uncaught, exceptions_go_to_the_handler_of_a_program_that_has_one) {
  for (const char* when : {"handler_before", "handler_after"}) {
    const auto result = run_case(when);
    EXPECT_EQ(result.status, 9);
    EXPECT_THAT(result.err, HasSubstr("the program's own handler\n"));
    EXPECT_THAT(result.err, Not(HasSubstr("uncaught exception")));
  }
}

TEST(uncaught, exceptions_after_the_end_are_as_without_quire) { EXPECT_EQ(run_case("after_the_end").status, 0); }

}  // namespace
}  // namespace quire::test::uncaught_test
