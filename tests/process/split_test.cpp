// SPDX-License-Identifier: BSD-3-Clause
// Pool 'fork': the death of either process ends the other, and what the engine knows after a crash of the program.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "command.hpp"

namespace quire::test::split_test {
namespace {

using testing::HasSubstr;

struct way {
  const char *detector, *link;
};
class split : public testing::TestWithParam<way> {
 protected:
  static std::vector<std::string> arguments(int nodes, const std::string& what) {
    return {QUIRE_TOOL,
            "run",
            "-n",
            std::to_string(nodes),
            "--pool",
            "fork",
            "--timeout",
            "60",
            "--detect",
            GetParam().detector,
            "--set",
            std::string("pool_link=") + GetParam().link,
            QUIRE_PROGRAMS "/split_program",
            what};
  }
};
INSTANTIATE_TEST_SUITE_P(ways, split,
                         testing::Values(way{"userfault", "ring"}, way{"thread", "ring"}, way{"segv", "ring"},
                                         way{"userfault", "socket"}, way{"segv", "socket"}),
                         [](const auto& info) { return std::string(info.param.detector) + "_" + info.param.link; });

TEST_P(split, programs_see_no_difference) {
  for (const int nodes : {1, 2}) {
    const auto result = run(arguments(nodes, "whole"));
    EXPECT_EQ(result.status, 0) << result.err;
  }
}

TEST_P(split, the_death_of_an_engine_ends_the_job) {
  command job(arguments(2, "wait"));
  ASSERT_TRUE(job.wait_for("node 1 is ", 30) && job.wait_for("\n", 1)) << job.out();
  const auto at = job.out().find("node 1 is ");
  const auto engine = job.out().find("its engine ", at);
  ASSERT_NE(engine, std::string::npos) << job.out();
  ASSERT_EQ(::kill(std::atoi(job.out().c_str() + engine + 11), SIGKILL), 0);
  const auto result = job.finish(20);
  EXPECT_EQ(result.status, 128 + SIGKILL) << result.err;
  EXPECT_FALSE(result.timed_out);
  EXPECT_THAT(result.err, HasSubstr("quire[1]: error: the engine's process of this node was killed"));
  EXPECT_THAT(result.err, HasSubstr("quire: node 1 (pid "));
  EXPECT_TRUE(job.left_behind(5).empty());
}

/// Between its first step and the moment when the node can see its end.
TEST_P(split, the_death_of_an_engine_at_its_start_ends_the_job) {
  std::vector<std::string> start = arguments(2, "wait");
  start.insert(start.begin(), {"env", "QUIRE_FAIL=process_handle:2:3"});
  command job(start);
  const auto result = job.finish(20);
  EXPECT_EQ(result.status, 128 + SIGKILL) << result.err;
  EXPECT_FALSE(result.timed_out);
  EXPECT_THAT(result.err, HasSubstr("the engine's process of this node was killed"));
  EXPECT_TRUE(job.left_behind(5).empty());
}

TEST_P(split, a_program_that_becomes_another_ends_the_job) {
  command job(arguments(2, "exec"));
  const auto result = job.finish(30);
  EXPECT_NE(result.status, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_TRUE(job.left_behind(5).empty());
}

/// The word at `address` in a core file; -1 if no segment has it.
std::int64_t word_in(const std::string& core, std::uint64_t address) {
  Elf64_Ehdr file;
  if (core.size() < sizeof file) return -1;
  std::memcpy(&file, core.data(), sizeof file);
  for (int i = 0; i < file.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, core.data() + file.e_phoff + static_cast<std::size_t>(i) * sizeof segment, sizeof segment);
    if (address - segment.p_vaddr >= segment.p_filesz) continue;
    std::int64_t word;
    std::memcpy(&word, core.data() + segment.p_offset + (address - segment.p_vaddr), sizeof word);
    return word;
  }
  return -1;
}

std::string only_file_in(const std::filesystem::path& directory) {
  std::stringstream content;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    content << std::ifstream(entry.path()).rdbuf();
  return content.str();
}

TEST_P(split, the_engine_tells_the_pages_of_a_program_that_crashed) {
  const auto directory = std::filesystem::temp_directory_path() / ("quire-split-" + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  command job(arguments(2, "crash"), {{"QUIRE_CRASH_DIR", directory}});
  const auto result = job.finish(30);
  EXPECT_EQ(result.status, 128 + SIGKILL);
  EXPECT_THAT(result.err, HasSubstr("quire[1]: error: the application of this node has crashed"));
  const auto at = result.out.find("words at ");
  ASSERT_NE(at, std::string::npos) << result.out << result.err;
  const std::uint64_t words = std::strtoull(result.out.c_str() + at + 9, nullptr, 16);
  const std::string core = only_file_in(directory);
  for (std::uint64_t unit = 1; unit < 8; unit += 2) {
    EXPECT_EQ(word_in(core, words + unit * 4096 + 24), static_cast<std::int64_t>(0x1234567800 + unit));
  }
  EXPECT_EQ(word_in(core, words + 64 * 4096), -1);
  EXPECT_TRUE(job.left_behind(5).empty());
  std::filesystem::remove_all(directory);
}

TEST(split_alone, a_crash_directory_that_cannot_be_written_is_named) {
  const auto result = run({QUIRE_TOOL, "run", "-n", "2", "--pool", "fork", QUIRE_PROGRAMS "/split_program", "crash"},
                          {{"QUIRE_CRASH_DIR", "/nowhere/at/all"}});
  EXPECT_EQ(result.status, 128 + SIGKILL);
  EXPECT_THAT(result.err, HasSubstr("cannot write the shared pages of the crashed application to /nowhere/at/all"));
}

TEST(split_alone, works_without_a_launcher) {
  const auto result = run({QUIRE_PROGRAMS "/split_program", "whole"}, {{"QUIRE_POOL", "fork"}});
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST(split_alone, a_range_that_is_taken_is_told) {
  const auto result = run({QUIRE_PROGRAMS "/split_program", "whole"},
                          {{"QUIRE_POOL", "fork"}, {"QUIRE_BASE", "0x7e0000000000"}, {"QUIRE_RANGE", "64T"}});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("set QUIRE_BASE or QUIRE_RANGE to others"));
}

}  // namespace
}  // namespace quire::test::split_test
