// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of processes.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "os/process.hpp"

namespace quire::os::process_test {
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

TEST(thread_times, are_of_the_thread_with_the_name) {
  std::atomic<bool> ends{false};
  std::thread spinner([&] {
    ::pthread_setname_np(::pthread_self(), "spinner");
    while (!ends.load()) continue;
  });
  thread_times first, then;
  for (int i = 0; i < 500 && !first.known; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    first = times_of_thread(::getpid(), "spinner");
  }
  if (!first.known) {
    ends.store(true);
    spinner.join();
    GTEST_SKIP() << "this kernel tells no times of threads";
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  then = times_of_thread(::getpid(), "spinner");
  ends.store(true);
  spinner.join();
  EXPECT_TRUE(then.runnable);
  EXPECT_GT(then.ran_ns + then.waited_ns, first.ran_ns + first.waited_ns);
  EXPECT_FALSE(times_of_thread(::getpid(), "nobody").known);
}

TEST(thread_times, tell_who_lacked_a_core) {
  constexpr std::uint64_t second = 1'000'000'000;
  const thread_times begin{true, false, 5 * second, 7 * second};
  const auto later = [&](bool runnable, std::uint64_t ran, std::uint64_t waited) {
    return lacked_core(begin, {true, runnable, begin.ran_ns + ran, begin.waited_ns + waited}, second);
  };
  EXPECT_FALSE(later(false, 0, 0)) << "it sleeps: nobody keeps it from answering";
  EXPECT_FALSE(later(true, second, 0)) << "it has a core all the while, and hangs";
  EXPECT_TRUE(later(false, 0, second / 2)) << "it waited, and sleeps just now";
  EXPECT_TRUE(later(true, second / 10, 0)) << "it waits; the kernel adds that when it runs again";
  EXPECT_FALSE(lacked_core({}, {true, true, 0, 0}, second));
  EXPECT_FALSE(lacked_core(begin, {}, second));
  EXPECT_FALSE(lacked_core(begin, {true, true, 0, 0}, second)) << "another thread";
}

}  // namespace
}  // namespace quire::os::process_test
