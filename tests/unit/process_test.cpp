// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of processes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process.hpp"

namespace quire::os {
namespace {

TEST(process_states, are_told_apart) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) ::pause();
  }
  siginfo_t news{};
  const auto wait_for = [&](int what) {
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &news, what | WNOWAIT), 0);
  };
  EXPECT_FALSE(is_stopped(child));
  EXPECT_FALSE(is_ending(child));
  EXPECT_TRUE(descends_from(child, ::getpid()));
  ::kill(child, SIGSTOP);
  wait_for(WSTOPPED);
  EXPECT_TRUE(is_stopped(child));
  EXPECT_FALSE(is_ending(child));
  ::kill(child, SIGKILL);
  wait_for(WEXITED);
  EXPECT_FALSE(is_stopped(child));
  EXPECT_TRUE(is_ending(child));  // until somebody has waited for it
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(is_ending(child));
}

}  // namespace
}  // namespace quire::os
