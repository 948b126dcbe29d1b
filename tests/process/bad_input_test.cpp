// SPDX-License-Identifier: BSD-3-Clause
// Bad input: what a wrong program gets to see, and how it ends. The cases are in bad_input_program.
#include <gtest/gtest.h>
#include <quire/quire.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "command.hpp"

namespace quire::test::bad_input_test {
namespace {

const std::string program = QUIRE_PROGRAMS "/bad_input_program";

command_result run_case(const std::string& name, const std::string& detector, int nodes = 2) {
  return run({QUIRE_TOOL, "run", "-n", std::to_string(nodes), "--timeout", "40", "--detect", detector, program, name});
}

class every_detector : public testing::TestWithParam<const char*> {
 protected:
  void good(const std::string& name, int nodes = 2) {
    const auto result = run_case(name, GetParam(), nodes);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
  }
  void ends_with(const std::string& name, int status, const std::string& words) {
    const auto result = run_case(name, GetParam());
    EXPECT_EQ(result.status, status) << result.out << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_LT(result.seconds, 20);
  }
};
INSTANTIATE_TEST_SUITE_P(detector, every_detector, testing::Values("userfault", "thread", "segv"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(every_detector, calls_before_the_start_and_after_the_end_say_so) { good("before_and_after"); }
TEST_P(every_detector, arguments_that_no_call_can_satisfy) { good("arguments", 3); }
TEST(arguments, of_frees_that_are_wrong_are_told_by_the_call_where_each_travels_by_itself) {
  const auto result =
      run({QUIRE_TOOL, "run", "-n", "3", "--timeout", "40", "--set", "free_batch=1", program, "arguments"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(result.err.find("gave nothing back"), std::string::npos) << result.err;
}
TEST(arguments, that_are_wrong_are_named) {
  for (const char* pool : {"memfd", "fork"}) {
    const auto result = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "40", "--pool", pool, program, "explanations"});
    EXPECT_EQ(result.status, 0) << pool << result.out << result.err;
  }
}
TEST_P(every_detector, the_application_may_fork) { good("forks"); }
TEST_P(every_detector, null_dereference_ends_by_its_signal) { ends_with("null_by_default", 128 + SIGSEGV, "node 1"); }
TEST_P(every_detector, null_dereference_reaches_an_earlier_handler) {
  ends_with("null_with_earlier_handler", 77, "node 1");
}
TEST_P(every_detector, a_bus_error_of_the_application_reaches_its_handler) { ends_with("bus_error", 79, "node 1"); }
TEST_P(every_detector, addresses_of_no_region_are_wrong) { ends_with("beyond_all_regions", 128 + SIGSEGV, "node 1"); }
TEST_P(every_detector, shared_addresses_end_with_the_job) {
  ends_with("used_after_end", 128 + SIGSEGV, "killed by signal");
}
TEST_P(every_detector, memory_that_is_guarded_may_not_be_used) {
  ends_with("guarded", QUIRE_BAD_ADDRESS, "this is the guarded half");
}
TEST_P(every_detector, threads_may_block_all_signals) { good("all_signals_blocked"); }
TEST_P(every_detector, what_was_prefetched_does_not_hold_up_the_end) { good("end_with_prefetch", 3); }
TEST_P(every_detector, signal_handlers_may_share_memory) { good("handlers_that_share"); }

TEST(core_file, of_a_crash_holds_the_shared_memory_that_was_used_and_takes_a_moment) {
  const auto result = run({program, "null_with_core"});
  EXPECT_EQ(result.status, 128 + SIGSEGV) << result.out << result.err;
  EXPECT_LT(result.seconds, 10);
  const std::filesystem::path folder = result.out.substr(0, result.out.find('\n'));
  ASSERT_NE(folder.string().find("/core.quire."), std::string::npos) << result.out;
  std::string pattern;
  std::getline(std::ifstream("/proc/sys/kernel/core_pattern"), pattern);
  if (pattern.starts_with("core")) {
    std::string core;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      EXPECT_LT(file.file_size(), std::uintmax_t{1} << 30) << "a part of the range, not all of it";
      core = file.path();
    }
    ASSERT_FALSE(core.empty()) << "no core file";
    EXPECT_EQ(::system(("grep -q 'this text is in shared memory, on node 0' " + core).c_str()), 0);
  }
  std::filesystem::remove_all(folder);
}

TEST(handlers, that_come_later_are_called_first_with_inline_faults) {
  for (const char* detector : {"userfault", "segv"}) {
    const auto result = run_case("null_with_later_handler", detector);
    EXPECT_EQ(result.status, 77) << detector << result.out << result.err;
  }
}

TEST(start, a_range_that_is_taken_is_refused_and_left_alone) {
  const auto result = run({program, "taken_range"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("0x200000000000"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("QUIRE_BASE"), std::string::npos) << result.err;
}
TEST(regions, that_are_too_many_are_refused_with_their_number) {
  const auto result = run({program, "too_many_regions"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("at most 4095 regions"), std::string::npos) << result.err;
}
TEST(start, options_of_the_program_are_checked) {
  const std::pair<const char*, const char*> wrong[] = {
      {"base", "0x3039"}, {"range_bytes", "0x1000"}, {"range_bytes", "0x8000000000000000"}, {"detector", "77"}};
  for (const auto& [field, value] : wrong) {
    const auto result = run({program, "options_of_the_program"}, {{"WRONG_FIELD", field}, {"WRONG_VALUE", value}});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.err.find(std::string("quire_options.") + field + " = " + value), std::string::npos) << result.err;
  }
}
TEST(start, a_wrong_option_is_refused_by_its_name) {
  const std::pair<const char*, const char*> wrong[] = {
      {"QUIRE_NONSENSE", "1"}, {"QUIRE_DETECT", "magic"}, {"QUIRE_RANGE", "5"},        {"QUIRE_BASE", "0x123"},
      {"QUIRE_UNIT", "12K"},   {"QUIRE_SPIN_US", "-7"},   {"QUIRE_READ_AHEAD", "yes"}, {"QUIRE_TRANSPORT", "pigeon"}};
  for (const auto& [name, value] : wrong) {
    const auto alone = run({program, "bad_environment"}, {{name, value}});
    EXPECT_EQ(alone.status, 0) << name << alone.err;
    EXPECT_NE(alone.err.find(name), std::string::npos) << alone.err;
    const auto job = run({QUIRE_TOOL, "run", "-n", "2", "true"}, {{name, value}});
    EXPECT_EQ(job.status, 125) << name << job.err;
    EXPECT_NE(job.err.find(name), std::string::npos) << job.err;
  }
}
TEST(start, options_that_a_near_miss_names_are_suggested) {
  const auto result = run({QUIRE_TOOL, "run", "-n", "2", "true"}, {{"QUIRE_DETECTS", "segv"}});
  EXPECT_NE(result.err.find("QUIRE_DETECT?"), std::string::npos) << result.err;
}
TEST(start, a_job_of_one_needs_no_launcher) {
  const auto result = run({program, "arguments"});
  EXPECT_EQ(result.status, 0) << result.err;
}

}  // namespace
}  // namespace quire::test::bad_input_test
