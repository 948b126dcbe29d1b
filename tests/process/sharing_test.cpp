// SPDX-License-Identifier: BSD-3-Clause
// `quire run --stats=sharing`: which units nodes share falsely, which lines each of them uses, what lies there, and
// what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "command.hpp"

namespace quire::test::sharing_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string program = std::string(QUIRE_PROGRAMS) + "/sharing_program";

struct way {
  const char* consistency;
  int nodes;
};

class SharingReport : public testing::TestWithParam<way> {
 protected:
  [[nodiscard]] static command_result report(const std::string& how, command::settings more = {},
                                             const std::string& statistics = "--stats=sharing") {
    more.emplace_back("QUIRE_CONSISTENCY", GetParam().consistency);
    return run({QUIRE_TOOL, "run", "-n", std::to_string(GetParam().nodes), "--timeout", "60", statistics, program, how},
               more);
  }
  /// What the program has said of where its counters lie.
  [[nodiscard]] static std::string address_in(const command_result& result) {
    const std::size_t at = result.out.find("at 0x");
    return at == std::string::npos ? "no address" : result.out.substr(at + 3, result.out.find('\n', at) - at - 3);
  }
  [[nodiscard]] static std::string first_line_of(const command_result& result, const std::string& kind) {
    return address_in(result) + " heap, 4 KiB, " + GetParam().consistency + ": " + kind + "\n";
  }
};

TEST_P(SharingReport, TellsOfLinesOfOneArray) {
  const auto result = report("lines");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("False sharing: on 1 unit"));
  EXPECT_THAT(result.err, HasSubstr(first_line_of(result, "false sharing")));
  EXPECT_THAT(result.err, ContainsRegex("it came back [0-9]+ times, threads waited [0-9.]+ [mu]?s for it"));
  EXPECT_THAT(result.err, HasSubstr("sharing_program.cpp:"));
  for (int node = 0; node < GetParam().nodes; ++node) {
    EXPECT_THAT(result.err, HasSubstr("  node " + std::to_string(node) + " writes line " + std::to_string(node) +
                                      " (bytes " + std::to_string(64 * node) + "-" + std::to_string(64 * node + 7) +
                                      "): a block of 4 KiB at " + address_in(result)));
  }
  EXPECT_THAT(
      result.err,
      HasSubstr("one object, a block of 4096 bytes: make the elements that different nodes use 4096 bytes apart"));
  const bool releases = std::string(GetParam().consistency) == "release";
  EXPECT_EQ(result.err.find("; or use release consistency") == std::string::npos, releases);
}

/// What follows the first write of an interval makes no fault: diffs have it. Units that migrate have none.
TEST_P(SharingReport, HasWhatDiffsProve) {
  const auto result = report("twice", {{"QUIRE_MIGRATORY", "0"}});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(first_line_of(result, "false sharing")));
  const bool proved = std::string(GetParam().consistency) == "release";
  for (int node = 1; node < GetParam().nodes; ++node) {
    const std::string line = std::to_string(node), other = std::to_string(node + 16);
    EXPECT_THAT(result.err,
                HasSubstr("  node " + line +
                          (proved ? " writes lines " + line + ", " + other + " (" : " writes line " + line + " (")));
  }
}

TEST_P(SharingReport, TellsOfWordsOfOneLine) {
  const auto result = report("words");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(first_line_of(result, "false sharing")));
  EXPECT_THAT(result.err, HasSubstr("  node 1 writes line 0 (bytes 8-15)"));
}

TEST_P(SharingReport, TellsOfSeveralObjects) {
  const auto result = report("objects");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(first_line_of(result, "false sharing")));
  EXPECT_THAT(result.err,
              HasSubstr("  node 0 writes line 0 (bytes 0-7): a block of 48 bytes at " + address_in(result) + "\n"));
  EXPECT_THAT(result.err,
              HasSubstr(std::to_string(GetParam().nodes) + " objects: allocate those of different nodes apart"));
}

TEST_P(SharingReport, CallsWhatAllUseTrueSharing) {
  const auto result = report("same");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("No false sharing"));
  EXPECT_THAT(result.err, HasSubstr(first_line_of(result, "true sharing")));
  EXPECT_THAT(result.err, Not(HasSubstr(": false sharing")));
  EXPECT_THAT(result.err, HasSubstr("What to do: the nodes use the same data"));
}

TEST_P(SharingReport, TellsOfBoth) {
  const auto result = report("mixed");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(first_line_of(result, "false and true sharing")));
  EXPECT_THAT(result.err, HasSubstr("what several nodes use (in line 63)"));
}

TEST_P(SharingReport, SaysThatThereIsNone) {
  for (const char* const how : {"pages", "reads"}) {
    const auto result = report(how);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("No false sharing")) << how;
    EXPECT_THAT(result.err, Not(HasSubstr("What to do"))) << how;
  }
}

TEST_P(SharingReport, SeesLinesOfLargerUnitsAndTheUnitThatPartsThem) {
  const auto together = report("lines", {{"QUIRE_UNIT", "64K"}}), apart = report("pages", {{"QUIRE_UNIT", "64K"}});
  ASSERT_EQ(together.status, 0) << together.err;
  EXPECT_THAT(together.err, HasSubstr("lines of 1 KiB here"));
  EXPECT_THAT(together.err, HasSubstr(address_in(together) + " heap, 64 KiB, "));
  ASSERT_EQ(apart.status, 0) << apart.err;
  EXPECT_THAT(apart.err, HasSubstr("take units of 4096 bytes"));
}

TEST_P(SharingReport, IsInTheFile) {
  const std::string name =
      testing::TempDir() + "sharing_test." + std::to_string(::getpid()) + ".json";  // others run at the same time
  const auto result = report("lines", {{"QUIRE_SHARING", "1"}}, "--stats=" + name);
  ASSERT_EQ(result.status, 0) << result.err;
  const auto document = nlohmann::json::parse(std::ifstream(name), nullptr, false);
  std::remove(name.c_str());
  ASSERT_TRUE(document.is_object());
  ASSERT_TRUE(document["sharing"].is_array());
  ASSERT_FALSE(document["sharing"].empty());
  bool found = false;
  for (const auto& unit : document["sharing"]) {
    if (unit["address"] != std::stoull(address_in(result), nullptr, 16)) continue;
    found = true;
    EXPECT_EQ(unit["kind"], "false");
    EXPECT_EQ(unit["bytes"], 4096);
    EXPECT_GE(unit["switches"], 16);
    EXPECT_EQ(unit["nodes"].size(), static_cast<std::size_t>(GetParam().nodes));
    const auto& writes = unit["nodes"][1]["writes"];
    ASSERT_TRUE(writes.contains("8"));
    EXPECT_EQ(writes.size(), 1u);
    EXPECT_GT(writes["8"], 60)
        << "half of them at least, also those that follow a read which has fetched the right to write";
    EXPECT_EQ(unit["objects"][0]["bytes"], 4096);
    EXPECT_NE(unit["advice"], "");
  }
  EXPECT_TRUE(found);
}

INSTANTIATE_TEST_SUITE_P(Ways, SharingReport,
                         testing::Values(way{"sequential", 2}, way{"sequential", 4}, way{"release", 2},
                                         way{"release", 4}),
                         [](const auto& info) {
                           return std::string(info.param.consistency) + "_" + std::to_string(info.param.nodes);
                         });

TEST(Sharing, IsNotThereUnlessAskedFor) {
  const auto result = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", "--stats", program, "lines"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("counter"));
  EXPECT_THAT(result.err, Not(HasSubstr("False sharing:")));
}

TEST(Sharing, IsSeenByEachDetectorAndInAnEngineOfItsOwn) {
  for (const auto& [option, value] :
       {std::pair{"--detect", "segv"}, std::pair{"--detect", "thread"}, std::pair{"--pool", "fork"}}) {
    const auto result =
        run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", option, value, "--stats=sharing", program, "lines"});
    if (result.status == 77) continue;
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr(": false sharing")) << value;
    EXPECT_THAT(result.err, HasSubstr("node 1 writes line 1 (bytes 64-71)")) << value;
  }
}

TEST(Sharing, OtherWordsAreRefusedWithWhatThereIs) {
  const auto result = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", "--stats=sharng", program, "lines"});
  EXPECT_EQ(result.status, 125);
  EXPECT_THAT(result.err, HasSubstr("--stats=sharng is not allowed; it may be sharing"));
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace quire::test::sharing_test
