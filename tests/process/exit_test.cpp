// SPDX-License-Identifier: BSD-3-Clause
// quire_exit(): any node ends the job with its status, whatever the threads of others do, and what all of them have
// printed is there. quire_end_at_exit().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.hpp"

namespace quire::test::exit_test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string program = QUIRE_PROGRAMS "/exit_program";

command_result run_case(const std::vector<std::string>& arguments, const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {QUIRE_TOOL, "run", "-n", "3", "--timeout", "40"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run(words);
}

void expect_all_printed(const command_result& result) {
  for (const char* node : {"0", "1", "2"})
    EXPECT_THAT(result.out, HasSubstr(std::string("node ") + node + " is here")) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("nobody")));
}

TEST(exit, any_node_ends_the_job_well) {
  for (const std::string how : {"barrier", "faults", "compute", "threads"}) {
    for (const std::string node : {"0", "2"}) {
      const auto result = run_case({how, node, "0"});
      EXPECT_EQ(result.status, 0) << how << result.err;
      EXPECT_EQ(result.err, "") << how;
      expect_all_printed(result);
    }
  }
}

TEST(exit, the_status_is_that_of_the_node_that_calls) {
  for (const std::string node : {"0", "1"}) {
    const auto result = run_case({"faults", node, "7"});
    EXPECT_EQ(result.status, 7);
    EXPECT_THAT(result.err, HasSubstr("node " + node));
    EXPECT_THAT(result.err, HasSubstr("exited with status 7"));
    expect_all_printed(result);
  }
}

TEST(exit, nodes_that_end_the_job_at_once_keep_their_own_status) {
  const auto result = run_case({"all", "0", "3"});
  EXPECT_THAT(result.status, AnyOf(3, 4, 5)) << result.err;
  expect_all_printed(result);
}

TEST(exit, other_pools_and_transports_and_survivors) {
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--pool", "fork"}, {"--transport", "tcp"}, {"--on-failure", "notify"}, {"--detect", "segv"}}) {
    for (const std::string how : {"barrier", "faults"}) {
      const auto result = run_case({how, "1", "0"}, options);
      EXPECT_EQ(result.status, 0) << options[1] << ' ' << how << result.err;
      EXPECT_EQ(result.err, "") << options[1] << ' ' << how;
      expect_all_printed(result);
    }
  }
}

TEST(exit, a_node_whose_output_is_locked_ends_without_it) {
  const auto result = run_case({"lock", "0", "0"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_LT(result.seconds, 10);
}

TEST(exit, outside_of_the_job_it_ends_the_process) {
  EXPECT_EQ(run_case({"after", "1", "0"}).status, 0);
  EXPECT_EQ(run_case({"after", "1", "6"}).status, 6);
  EXPECT_EQ(run({program, "before", "0", "5"}).status, 5);
}

const std::vector<std::vector<std::string>> ways = {{"--pool", "memfd"},    {"--pool", "fork"},
                                                    {"--detect", "segv"},   {"--detect", "thread"},
                                                    {"--transport", "tcp"}, {"--on-failure", "notify"}};

command_result end_at_exit(const std::string& how, const std::vector<std::string>& options) {
  std::vector<std::string> words = {QUIRE_TOOL, "run", "-n", "3", "--timeout", "40"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {QUIRE_PROGRAMS "/end_at_exit_program", how});
  return run(words);
}

TEST(end_at_exit, threads_that_go_on_are_held) {
  for (const auto& options : ways) {
    for (const std::string how : {"sweep", "fault", "event", "lock", "allocate", "none"}) {
      for (int i = 0; i < 3; ++i) {
        const auto result = end_at_exit(how, options);
        EXPECT_EQ(result.status, 0) << options[1] << ' ' << how << result.err;
        EXPECT_EQ(result.err, "") << options[1] << ' ' << how;
        EXPECT_EQ(result.out, "later\nlater\nlater\n") << options[1] << ' ' << how;
      }
    }
  }
}

TEST(end_at_exit, the_memory_is_gone_for_the_thread_that_exits) {
  for (const auto& options : ways) {
    const auto result = end_at_exit("main", options);
    EXPECT_EQ(result.status, 128 + 11) << options[1] << result.err;
    EXPECT_THAT(result.out, Not(HasSubstr("later"))) << options[1];
  }
}

}  // namespace
}  // namespace quire::test::exit_test
