// SPDX-License-Identifier: BSD-3-Clause
// System calls that fail: QUIRE_FAIL makes the n-th call of one kind fail (src/os/injection.hpp), in a job of real
// processes. Whatever call it is: the job does its work all the same, or it ends with an error that says what failed;
// never with a wrong result, a signal, or silence, and nothing is left behind.
#include <gtest/gtest.h>

#include "../process/command.hpp"

namespace quire::test {
namespace {

struct failure {
  const char *call, *detector;
  int error;
};
void PrintTo(const failure& f, std::ostream* out) { *out << f.call << " with errno " << f.error << ", " << f.detector; }

class failing_call : public testing::TestWithParam<failure> {
 protected:
  /// One job in which the `nth` call fails on `where` ("" for all nodes). True if that made a difference.
  bool fails(int nth, const std::string& where) {
    const failure& f = GetParam();
    const std::string what = std::string(f.call) + ":" + std::to_string(nth) + ":" + std::to_string(f.error);
    SCOPED_TRACE("QUIRE_FAIL=" + what + " " + where);
    std::vector<std::string> words = {
        QUIRE_TOOL, "run", "-n", "2", "--timeout", "20", "--detect", f.detector, QUIRE_PROGRAMS "/fault_program"};
    if (!where.empty()) words.push_back(where);
    // With frames of the host nothing depends on the first file: contract_host_frames.without_a_file.
    const auto result = run(words, {{"QUIRE_FAIL", what}, {"QUIRE_HOST_FRAMES", "0"}});
    EXPECT_NE(result.status, 124) << "the job hung: " << result.out << result.err;
    EXPECT_LT(result.status, 124) << result.out << result.err;
    EXPECT_EQ(result.err.find("FAILED"), std::string::npos) << result.err;
    if (result.status == 0) {
      EXPECT_NE(result.out.find("all is well"), std::string::npos);
      return false;
    }
    EXPECT_NE(result.err.find("error: "), std::string::npos) << "no reason is given: " << result.err;
    return true;
  }
};

TEST_P(failing_call, ends_with_a_reason_or_does_no_harm) {
  int harmful = 0;
  for (const int nth : {1, 2, 3, 4, 6, 9, 15, 30, 60}) {
    harmful += fails(nth, "") ? 1 : 0;
    if (nth <= 4 || nth == 30) harmful += fails(nth, "1") ? 1 : 0;
  }
  EXPECT_GT(harmful, 0) << "no call of this kind was made to fail";
}
INSTANTIATE_TEST_SUITE_P(
    calls, failing_call,
    testing::Values(failure{"memfd", "userfault", 24}, failure{"truncate", "userfault", 28},
                    failure{"map", "userfault", 12}, failure{"map", "segv", 12}, failure{"protect", "segv", 12},
                    failure{"advise", "userfault", 12}, failure{"userfault_open", "userfault", 1},
                    failure{"userfault_open", "thread", 1}, failure{"userfault_ioctl", "userfault", 12},
                    failure{"userfault_ioctl", "thread", 22}),
    [](const auto& info) {
      return std::string(info.param.call) + "_" + info.param.detector + "_" + std::to_string(info.param.error);
    });

TEST(automatic_detector, falls_back_to_segv_with_a_line_that_says_so) {
  const auto result = run({QUIRE_TOOL, "run", "-n", "2", "--timeout", "20", QUIRE_PROGRAMS "/fault_program"},
                          {{"QUIRE_FAIL", "userfault_open:1:1"}});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("SIGSEGV and mprotect"), std::string::npos) << result.err;
}
/// Whoever makes the folder first is a node of an older kernel.
TEST(automatic_detector, is_one_that_all_nodes_can_have) {
  char folder[] = "/tmp/quire-detector-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string one = std::string(folder) + "/one";
  const std::string script =
      "mkdir " + one + " 2>/dev/null && export QUIRE_FAIL=userfault_open:1:22; exec " QUIRE_PROGRAMS "/fault_program";
  const auto result = run({QUIRE_TOOL, "run", "-n", "3", "--timeout", "20", "--set=log=info", "sh", "-c", script});
  ::rmdir(one.c_str());
  ::rmdir(folder);
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string line = "all nodes take detector 'segv'";
  const std::size_t first = result.err.find(line);
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(line, first + 1), std::string::npos) << "a line for the job\n" << result.err;
  EXPECT_NE(
      result.err.find("has no userfaultfd for shared memory: userfaultfd has no write protection of shared memory "
                      "(Linux 5.19)"),
      std::string::npos)
      << result.err;
  EXPECT_EQ(result.err.find("userfaultfd, faulting thread"), std::string::npos) << result.err;
}
TEST(failure_setting, that_makes_no_sense_is_refused) {
  for (const char* text : {"nonsense", "memfd", "memfd:0", "memfd:x:1", "nothing:1:1", "memfd:1:1:1"}) {
    const auto result = run({QUIRE_PROGRAMS "/fault_program"}, {{"QUIRE_FAIL", text}});
    EXPECT_EQ(result.status, 15) << text << result.err;
    EXPECT_NE(result.err.find("QUIRE_FAIL"), std::string::npos) << text << result.err;
  }
}

}  // namespace
}  // namespace quire::test
