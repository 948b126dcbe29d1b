// SPDX-License-Identifier: BSD-3-Clause
// A job that waits says for what: when its time is over, and when somebody asks by SIGQUIT; then it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "command.hpp"

namespace quire::test::waits_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

const std::string program = QUIRE_PROGRAMS "/waits_program";

/// Output and errors in one.
std::vector<std::string> job(const std::string& options, const std::string& how) {
  return {"sh", "-c", "exec " QUIRE_TOOL " run " + options + " " + program + " " + how + " 2>&1"};
}

TEST(waits, of_a_deadlock_are_told_at_the_time_limit) {
  const auto result = run({QUIRE_TOOL, "run", "-n", "3", "--timeout", "2", program, "circle"});
  EXPECT_EQ(result.status, 124);
  EXPECT_THAT(
      result.err,
      ContainsRegex(
          "quire: deadlock: thread 0 of node 0 waits for mutex 2 of node 0 \\(0x[0-9a-f]+\\), which thread 0 of node 1 "
          "holds; thread 0 of node 1 waits for mutex 1 of node 0 \\(0x[0-9a-f]+\\), which thread 0 of node 0 holds\n"));
  EXPECT_THAT(result.err,
              ContainsRegex("node 0 \\(pid [0-9]+\\), thread 0 \\(tid [0-9]+\\): [0-9.]+ s in quire_mutex_lock\\(\\)"));
  EXPECT_THAT(result.err, ContainsRegex("node 2 \\(pid [0-9]+\\): no thread waits for anything of Quire"));
  EXPECT_THAT(result.err, HasSubstr("its time limit is over"));
  EXPECT_LT(result.seconds, 15);
}

/// Starts `how`, has `ask` send signals, then lets the job go on.
template <class Ask>
void ask_and_go_on(const std::string& options, int nodes, Ask ask, const std::string& how = "late") {
  command job_command(job(options, how));
  for (int node = 0; node < nodes; ++node)
    EXPECT_TRUE(job_command.wait_for("node " + std::to_string(node) + " waits", 30)) << job_command.out();
  ask(job_command);
  job_command.signal(SIGUSR1);
  const auto result = job_command.finish(30);
  EXPECT_EQ(result.status, 0) << result.out;
  for (int node = 0; node < nodes; ++node)
    EXPECT_THAT(result.out, HasSubstr("node " + std::to_string(node) + " goes on"));
  EXPECT_TRUE(job_command.left_behind(5).empty());
}

/// Asks until the answer has a line like that: the thread may be on its way to where it waits.
void ask_until(command& c, const std::string& line) {
  for (int tries = 0; tries < 40; ++tries) {
    c.signal(SIGQUIT);
    if (c.wait_until([&](const std::string& out) { return !matches_of(out, line).empty(); }, 0.5)) return;
  }
  ADD_FAILURE() << "no \"" << line << "\" in\n" << c.out();
}

class every_pool : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(pool, every_pool, testing::Values("memfd", "fork"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(every_pool, waits_are_told_by_sigquit_and_the_job_goes_on) {
  ask_and_go_on(std::string("-n 3 --timeout 60 --pool ") + GetParam(), 3, [](command& c) {
    ask_until(c, R"(in quire_barrier_wait\(\); node 2 has not come)");
    ask_until(c, R"(node 2 \(pid [0-9]+\), thread 1 .* in quire_event_wait\(\) for event 1 of node 0)");
  });
}

/// Its place stays taken. Who waits says how many have come, and from where; and goes on when the group goes.
TEST_P(every_pool, waits_for_a_member_that_has_ended_are_told_with_those_who_have_come) {
  ask_and_go_on(
      std::string("-n 3 --timeout 60 --pool ") + GetParam(), 3,
      [](command& c) {
        ask_until(c, R"(node 1 \(pid [0-9]+\), thread [0-9]+ .* in quire_group_wait\(\) for group 1 of node 0 )"
                     R"(\(0x[0-9a-f]+\); 5 of 6 have come: 2 of node 0, 1 of node 1, 2 of node 2)");
      },
      "ended_member");
}

TEST(waits, of_nodes_on_other_hosts_are_told_too) {
  const std::string agent = testing::TempDir() + "waits_agent." + std::to_string(::getpid());
  std::ofstream(agent) << "#!/bin/sh\nshift\nexec sh -c \"$*\"\n";
  std::filesystem::permissions(agent, std::filesystem::perms::owner_all);
  ask_and_go_on("--hosts a,b:2 --agent " + agent + " --timeout 60", 3, [](command& c) {
    ask_until(c, R"(node 1 \(pid [0-9]+ on b\), thread 0 .* in quire_barrier_wait\(\); node 2 has not come)");
  });
  std::filesystem::remove(agent);
}

TEST(waits, of_one_node_are_told_by_a_signal_to_it) {
  const auto result =
      run({"sh", "-c",
           program + " late & waits=$!; sleep 1; kill -QUIT $waits; sleep 0.5; kill -USR1 $waits; wait $waits"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.err, ContainsRegex("quire\\[0\\]: node 0, thread 1 \\(tid [0-9]+\\): [0-9.]+ s in "
                                        "quire_event_wait\\(\\) for event 1 of node 0"));
}

TEST(waits, of_a_program_that_is_none_of_quires_end_it_as_ever) {
  const auto result =
      run({"sh", "-c", QUIRE_TOOL " run -n 2 sleep 30 & job=$!; sleep 0.5; kill -QUIT $job; wait $job"});
  EXPECT_EQ(result.status, 128 + SIGQUIT) << result.err;
  EXPECT_LT(result.seconds, 10);
}

TEST(waits, at_the_jobs_barrier_are_for_one_thread_of_a_node) {
  const auto result = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "30", program, "two_threads"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, ContainsRegex("quire\\[0\\]: error: quire_barrier_wait\\(\\): thread [0-9]+ calls it while "
                                        "thread [0-9]+ of the same node is in "
                                        "quire_barrier_wait\\(\\)"));
}

}  // namespace
}  // namespace quire::test::waits_test
