// SPDX-License-Identifier: BSD-3-Clause
// What a thread asks of the scheduler, and what it leaves alone.
#include "os/slices.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

namespace quire::os::slices_test {
namespace {

struct attributes {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};

attributes own() {
  attributes now{};
  EXPECT_EQ(::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0), 0);
  return now;
}

template <class F>
void on_a_thread(F f) {
  std::thread(f).join();
}

TEST(slices, a_thread_gets_short_ones_and_keeps_its_policy_and_niceness) {
  on_a_thread([] {
    ASSERT_EQ(::setpriority(PRIO_PROCESS, 0, 3), 0);
    const auto before = own();
    prefer_short_slices();
    const auto now = own();
    EXPECT_EQ(now.policy, before.policy);
    EXPECT_EQ(now.nice, 3);
    EXPECT_EQ(now.flags, before.flags);
    if (before.runtime == 0) GTEST_SKIP() << "this kernel does not know slices";
    EXPECT_EQ(now.runtime, 100'000u);
  });
}

TEST(slices, who_asked_for_another_policy_is_left_alone) {
  on_a_thread([] {
    const sched_param none{};
    if (::sched_setscheduler(0, SCHED_BATCH, &none) != 0) GTEST_SKIP() << "no other policy may be had here";
    const auto before = own();
    prefer_short_slices();
    EXPECT_EQ(own().policy, before.policy);
    EXPECT_EQ(own().runtime, before.runtime);
  });
}

TEST(slices, children_are_reset_as_the_program_wishes) {
  on_a_thread([] {
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none), 0);
    prefer_short_slices();
    EXPECT_EQ(own().flags & 1, 1u);
  });
}

}  // namespace
}  // namespace quire::os::slices_test
