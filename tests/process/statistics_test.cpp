// SPDX-License-Identifier: BSD-3-Clause
// `quire run --stats`: regions and units that threads have waited for, with the line of the program that allocated
// them, and advice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "command.hpp"

namespace quire::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string program = std::string(QUIRE_PROGRAMS) + "/statistics_program";

TEST(Statistics, NameTheLineThatAllocatedWhatMoves) {
  const auto result = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", "--stats", program});
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

TEST(Statistics, HaveRegionsAndUnitsInTheFile) {
  const std::string name = testing::TempDir() + "statistics_test.json";
  const auto result = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "60", "--stats=" + name, program});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto document = nlohmann::json::parse(std::ifstream(name), nullptr, false);
  std::remove(name.c_str());
  ASSERT_TRUE(document.is_object());
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
}  // namespace quire::test
