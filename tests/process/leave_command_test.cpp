// SPDX-License-Identifier: BSD-3-Clause
// `quire leave`: a node of a running job leaves when its program comes to it, and nothing of the work is lost; who asks
// hears what becomes of it. Where a node stays the reason is told, and the job goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "command.hpp"

namespace quire::test::leave_command_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using words = std::vector<std::string>;

const std::string program = std::string(QUIRE_PROGRAMS) + "/wish_program";

words operator+(words a, const words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A job of the program, whose nodes have met.
class job {
 public:
  job(int nodes, const words& what, const words& how = {"--on-failure", "notify"})
      : command_(words{QUIRE_TOOL, "run", "-n", std::to_string(nodes), "--timeout", "90"} + how + words{program} +
                 what) {
    std::string here;
    for (int node = 0; node < nodes; ++node) here += "here\n";
    EXPECT_TRUE(command_.wait_for(here, 30)) << command_.out();
  }
  [[nodiscard]] command_result leave(const std::string& node, const words& more = {}) const {
    return run(words{QUIRE_TOOL, "leave", pid(), node} + more);
  }
  [[nodiscard]] words command_for(const std::string& node) const { return {QUIRE_TOOL, "leave", pid(), node}; }
  [[nodiscard]] const std::string& pid() const { return pid_; }
  /// It ends by itself, and well.
  void expect_end() {
    const auto result = command_.finish(60);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("all is there"));
    EXPECT_THAT(command_.left_behind(5), IsEmpty());
  }
  /// It still runs: somebody has to end it.
  void end() {
    command_.signal(SIGTERM);
    const auto result = command_.finish(30);
    EXPECT_EQ(result.status, 128 + SIGTERM) << result.err;
    EXPECT_THAT(command_.left_behind(5), IsEmpty());
  }

 private:
  command command_;
  const std::string pid_ = std::to_string(command_.pid());
};

void expect_left(const command_result& result, const job& of, const std::string& node) {
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("node " + node + " has left job " + of.pid()));
}
void expect_refusal(const command_result& result, const std::string& why) {
  EXPECT_EQ(result.status, 125) << result.out;
  EXPECT_THAT(result.err, HasSubstr(why));
}

class LeaveCommandOn : public testing::TestWithParam<int> {};

/// While all of them work: one after the other, and each again.
TEST_P(LeaveCommandOn, NodesGoUnderWork) {
  const int nodes = GetParam();
  job one(nodes, {"elastic", std::to_string(nodes - 1)});
  for (int node = nodes - 1; node > 0; --node) {
    expect_left(one.leave(std::to_string(node)), one, std::to_string(node));
    if (node > 1) expect_left(one.leave(std::to_string(node)), one, std::to_string(node));
  }
  one.expect_end();
}
INSTANTIATE_TEST_SUITE_P(, LeaveCommandOn, testing::Values(2, 3, 4),
                         [](const auto& info) { return std::to_string(info.param) + "_nodes"; });

TEST(LeaveCommand, OverTcpAndEncrypted) {
  for (const words& how : {words{"--transport", "tcp"}, words{"--transport", "tcp", "--encrypt"}}) {
    job one(3, {"elastic", "1"}, words{"--on-failure", "notify"} + how);
    expect_left(one.leave("1"), one, "1");
    one.expect_end();
  }
}

TEST(LeaveCommand, TwoWantTheSame) {
  job one(3, {"elastic", "2"});
  command first(one.command_for("2")), second(one.command_for("2"));
  for (command* const asks : {&first, &second}) expect_left(asks->finish(30), one, "2");
  expect_left(one.leave("1"), one, "1");
  one.expect_end();
}

TEST(LeaveCommand, TwoNodesAtOnce) {
  job one(4, {"elastic", "2"});
  command first(one.command_for("1")), second(one.command_for("2"));
  expect_left(first.finish(30), one, "1");
  expect_left(second.finish(30), one, "2");
  one.expect_end();
}

/// Their node hears what it has told the program.
TEST(LeaveCommand, ANodeWithThreadsStaysUntilTheyEnd) {
  job spawned(3, {"spawned", "1"});
  const auto of_spawned = spawned.leave("1");
  expect_left(of_spawned, spawned, "1");
  EXPECT_THAT(of_spawned.err, HasSubstr("node 1 stays for now"));
  EXPECT_THAT(of_spawned.err, HasSubstr("1 threads of quire_spawn() run on this node"));
  spawned.expect_end();
  job own(2, {"threads", "1"});
  const auto of_own = own.leave("1");
  expect_left(of_own, own, "1");
  EXPECT_THAT(of_own.err, HasSubstr("units of memory are there still"));
  EXPECT_THAT(of_own.err, HasSubstr("this node has not come to rest"));
  own.expect_end();
}

TEST(LeaveCommand, AProgramThatDoesNotLookStays) {
  job one(2, {"deaf", "1"});
  const auto result = one.leave("1", {"--timeout", "4"});
  EXPECT_EQ(result.status, 124) << result.err;
  EXPECT_THAT(result.err, HasSubstr("its program has not looked yet"));
  EXPECT_THAT(result.err, HasSubstr("it still knows that it is to"));
  expect_refusal(one.leave("0"), "stays: node 0 stays, as it takes over");
  expect_refusal(one.leave("7"), "the job has no node 7: its nodes are 0 to 1");
  one.end();
  expect_refusal(one.leave("1"), "there is no job " + one.pid());
}

TEST(LeaveCommand, WhatKeepsANodeIsTold) {
  job ends(2, {"elastic", "1"}, {});
  expect_refusal(ends.leave("1"), "start it with --on-failure notify");
  ends.end();
  job release(2, {"release"});
  expect_refusal(release.leave("1"), "a region's consistency is not sequential");
  release.end();
  job at_end(2, {"ends"});
  ::usleep(500'000);
  expect_refusal(at_end.leave("1"), "its program is in quire_end()");
  at_end.end();
}

TEST(LeaveCommand, ANodeThatDiesInsteadIsTold) {
  job one(3, {"dies", "2"});
  expect_refusal(one.leave("2"), "was killed by signal 6");
  expect_refusal(one.leave("2"), "node 2 (pid ");
  expect_refusal(one.leave("1"), "was killed by signal 6");
  one.expect_end();
}

TEST(LeaveCommand, WhoAsksMayGo) {
  job one(2, {"threads", "1"});
  command asks(one.command_for("1"));
  ::usleep(1'500'000);
  asks.signal(SIGKILL);
  EXPECT_EQ(asks.finish(10).status, 128 + SIGKILL);
  one.expect_end();
}

TEST(LeaveCommand, OverHosts) {
  char folder[] = "/tmp/quire-leave-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string agent = std::string(folder) + "/agent";
  std::ofstream(agent) << "#!/bin/sh\nexec sh -c \"$2\"\n";
  fs::permissions(agent, fs::perms::owner_all);
  {
    job one(2, {"elastic", "1"}, {"--on-failure", "notify", "--hosts", "east,west", "--agent", agent});
    expect_left(one.leave("1"), one, "1");
    one.expect_end();
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace quire::test::leave_command_test
