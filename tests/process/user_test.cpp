// SPDX-License-Identifier: BSD-3-Clause
// What an ordinary user has: everything but the detector that needs a privilege, and that says so. Runs as root, which
// becomes nobody for the command; an ordinary user who runs the tests sees the same in all others.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "command.hpp"

namespace quire::test::user_test {
namespace {

command_result run_as_nobody(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"};
  all.insert(all.end(), words.begin(), words.end());
  return run(all);
}
command_result job_as_nobody(const std::string& detector, const std::string& program) {
  return run_as_nobody(
      {QUIRE_TOOL, "run", "-n", "2", "--timeout", "40", "--detect", detector, QUIRE_PROGRAMS "/" + program});
}

class ordinary_user : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    if (run_as_nobody({"test", "-x", QUIRE_TOOL}).status != 0)
      GTEST_SKIP() << "nobody cannot reach the build directory";
  }
};

TEST_F(ordinary_user, shares_memory_with_inline_faults) {
  for (const char* detector : {"auto", "userfault", "segv"}) {
    const auto result = job_as_nobody(detector, "contract_atomics_program");
    EXPECT_EQ(result.status, 0) << detector << result.err;
    EXPECT_EQ(result.err, "") << "there is nothing to complain about";
  }
}
TEST_F(ordinary_user, makes_system_calls_on_shared_memory) {
  for (const char* detector : {"auto", "segv"}) {
    const auto result = job_as_nobody(detector, "system_calls_program");
    EXPECT_EQ(result.status, 0) << detector << result.out << result.err;
  }
}
TEST_F(ordinary_user, is_told_what_mode_thread_needs) {
  int allowed = 0;
  std::ifstream("/proc/sys/vm/unprivileged_userfaultfd") >> allowed;
  if (allowed != 0 || run_as_nobody({"test", "-w", "/dev/userfaultfd"}).status == 0)
    GTEST_SKIP() << "everybody may use it here";
  const auto result = job_as_nobody("thread", "contract_atomics_program");
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.err.find("'thread' needs root"), std::string::npos) << result.err;
  EXPECT_LT(result.seconds, 10);
}

}  // namespace
}  // namespace quire::test::user_test
