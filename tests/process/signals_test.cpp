// SPDX-License-Identifier: BSD-3-Clause
// Signals of the program, by each detector: what it installs after the start is kept behind Quire's handlers, and
// others run while its threads wait.
#include <gtest/gtest.h>
#include <signal.h>

#include "command.hpp"

namespace quire::test::signals_test {
namespace {

class signals : public testing::TestWithParam<const char*> {
 protected:
  static command_result job(const char* what) {
    return run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "40", "--detect", GetParam(),
                QUIRE_PROGRAMS "/signals_program", what});
  }
  static void good(const char* what) {
    const auto result = job(what);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
  }
};
INSTANTIATE_TEST_SUITE_P(detectors, signals, testing::Values("userfault", "segv", "thread"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(signals, handlers_that_come_later_are_kept_and_seen) { good("probes"); }
TEST_P(signals, handlers_of_faults_may_share_memory) {
  const auto result = job("reports");
  EXPECT_EQ(result.status, 128 + SIGSEGV) << result.out << result.err;
  EXPECT_NE(result.out.find("reported 64"), std::string::npos) << result.out;
}
TEST_P(signals, a_handler_that_faults_ends_the_program) {
  const auto result = job("faults_in_its_handler");
  EXPECT_EQ(result.status, 128 + SIGSEGV) << result.out << result.err;
}
TEST_P(signals, a_handler_for_one_time_runs_once) {
  const auto result = job("handles_once");
  EXPECT_EQ(result.status, 128 + SIGSEGV) << result.out << result.err;
  const auto first = result.out.find("once");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(result.out.find("once", first + 1), std::string::npos) << result.out;
}
TEST_P(signals, run_in_a_barrier) { good("barrier"); }
TEST_P(signals, run_in_a_lock) { good("lock"); }
TEST_P(signals, run_in_a_fault) { good("fault"); }
TEST_P(signals, without_a_handler_end_a_node_that_faults) {
  const auto result = job("ends_while_faulting");
  EXPECT_EQ(result.status, 128 + SIGALRM) << result.out << result.err;
}
TEST_P(signals, that_end_programs_have_no_handler) { good("nothing_is_handled"); }
TEST_P(signals, handlers_from_before_the_start_block_nothing_needed) { good("handler_from_before"); }
TEST_P(signals, a_small_alternate_stack_stays_the_programs) { good("small_alternate_stack"); }
TEST_P(signals, stacks_in_shared_memory_fault) { good("stack_is_shared"); }
TEST_P(signals, the_first_fault_of_a_thread_may_be_on_such_a_stack) { good("first_fault_on_shared_stack"); }
TEST_P(signals, a_thread_on_shared_memory_is_refused) {
  if (std::string(GetParam()) == "thread") GTEST_SKIP() << "the kernel waits for its pages";
  const auto result = job("thread_on_shared_stack");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_NE(result.err.find("cannot have its stack in shared memory"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace quire::test::signals_test
