// SPDX-License-Identifier: BSD-3-Clause
// `quire run --stats`: regions and units that threads have waited for, with the line of the program that allocated
// them, and advice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "command.hpp"

namespace quire::test::statistics_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string program = std::string(QUIRE_PROGRAMS) + "/statistics_program";

TEST(Statistics, NameTheLineThatAllocatedWhatMoves) {
  const auto result = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", "--set=host_frames=0", "--stats", program});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, ContainsRegex("heap +[0-9]+ [GT]iB +4 KiB +sequential"));
  EXPECT_THAT(result.err,
              ContainsRegex("0x[0-9a-f]+ heap .* statistics_program.cpp:[0-9]+ in allocate_a_counter\\(\\)"));
  EXPECT_THAT(result.err, HasSubstr("Several nodes write "));
  EXPECT_THAT(result.err, HasSubstr("blocks that are used under different locks"));
  EXPECT_THAT(result.err, ContainsRegex("fault_s +[0-9.]+ +[0-9.]+ +[0-9.]+\n")) << "seconds";
  EXPECT_THAT(result.err, Not(HasSubstr("paged_to_disk"))) << "what is zero is left out";
}

TEST(Statistics, OfOneNodeGiveNoAdvice) {
  const auto result = run({QUIRE_TOOL, "run", "-n", "1", "--timeout", "60", "--stats", program});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("Several nodes")));
}

std::string statistics_of(std::vector<std::string> under, const command::settings& environment = {}) {
  std::vector<std::string> all{QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", "--stats"};
  all.insert(all.end(), under.begin(), under.end());
  all.push_back(program);
  const auto result = run(all, environment);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.err;
}

TEST(Statistics, SayHowMessagesGo) {
  EXPECT_THAT(statistics_of({}), HasSubstr("quire: messages between all nodes go through shared memory\n"));
  EXPECT_THAT(statistics_of({}, {{"QUIRE_TRANSPORT", "tcp"}}), HasSubstr("nodes go by TCP: as was asked for"));
  EXPECT_THAT(statistics_of({}, {{"QUIRE_ON_FAILURE", "notify"}}), HasSubstr("go through shared memory\n"));
  EXPECT_THAT(statistics_of({}, {{"UCX_TLS", "tcp"}}), HasSubstr("as UCX chooses: UCX_TLS=tcp of the environment\n"));
}

/// Nodes of one machine that share no memory: all take TCP, and it is said why, and what helps.
TEST(Statistics, SayWhyContainersShareNoMemory) {
  const std::vector<std::string> pid{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"},
      user{"unshare", "--user", "--map-root-user"};
  if (run({"unshare", "--ipc", "true"}).status != 0) GTEST_SKIP() << "namespaces take root";
  const auto why = [](const std::string& what, const std::string& option) {
    return ContainsRegex(
        "messages between all nodes go by TCP: nodes 0 \\(.*\\) and 1 \\(.*\\) are on one machine, in other " + what +
        " namespaces, .* \\(docker run " + option + "\\)");
  };
  EXPECT_THAT(statistics_of({"unshare", "--ipc"}), why("IPC", "--ipc=host"));
  EXPECT_THAT(statistics_of(pid), why("PID", "--pid=host"));
  if (run({"unshare", "--user", "true"}).status == 0) {
    EXPECT_THAT(statistics_of(user), why("user", "--userns=host"));
  }
  const auto refused = run({QUIRE_TOOL, "run", "-n", "2", "--transport", "shm", "unshare", "--ipc", program});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("in other IPC namespaces, as containers are, and transport shm was asked for"));
}

/// What a compiler has put in the program's place meanwhile names nothing.
TEST(Statistics, TakeNoNamesFromAProgramThatWasChanged) {
  const std::string copy = testing::TempDir() + "statistics_copy";
  ASSERT_EQ(run({"cp", program, copy}).status, 0);
  const auto result = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", "--stats", "sh", "-c",
                           "\"$0\" && { test $QUIRE_JOB_NODE = 0 && touch \"$0\"; true; }", copy});
  std::remove(copy.c_str());
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("statistics_copy was changed while the job ran"));
  EXPECT_THAT(result.err, Not(HasSubstr("allocate_a_counter()")));
}

TEST(Statistics, HaveRegionsAndUnitsInTheFile) {
  const std::string name = testing::TempDir() + "statistics_test.json";
  const auto result =
      run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", "--set=host_frames=0", "--stats=" + name, program});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto document = nlohmann::json::parse(std::ifstream(name), nullptr, false);
  std::remove(name.c_str());
  ASSERT_TRUE(document.is_object());
  EXPECT_EQ(document["transport"]["kind"], "shm");
  ASSERT_FALSE(document["regions"].empty());
  EXPECT_EQ(document["regions"][0]["region"], 0);
  EXPECT_EQ(document["regions"][0]["unit_bytes"], 4096);
  ASSERT_FALSE(document["units"].empty());
  const auto& first = document["units"][0];
  EXPECT_EQ(first["writers"], 2);
  EXPECT_GT(first["faults"], 0);
  EXPECT_GE(first["faults"], first["writes"]);
  EXPECT_GE(first["blocks"], 64);
  EXPECT_FALSE(first["calls"].empty());
}

}  // namespace
}  // namespace quire::test::statistics_test
