// SPDX-License-Identifier: BSD-3-Clause
#include "drive/wake_policy.hpp"

#include <gtest/gtest.h>

namespace quire::drive::wake_policy_test {
namespace {

pace some_pace() {
  pace p;
  p.spin_ns = 1'000'000;
  p.service_spin_ns = 20'000;
  return p;
}

TEST(wake_policy, a_thread_polls_gives_way_and_sleeps) {
  const pace p = some_pace();
  polling w(p);
  EXPECT_EQ(w.look(1'000, false), next_step::poll) << "its time begins";
  EXPECT_EQ(w.look(2'000, false), next_step::poll);
  EXPECT_EQ(w.look(1'000 + p.patience_ns + 1, false), next_step::give_way);
  EXPECT_EQ(w.look(500'000, true), next_step::poll) << "something has come";
  EXPECT_EQ(w.look(500'000 + p.spin_ns, false), next_step::give_way);
  EXPECT_EQ(w.look(500'001 + p.spin_ns, false), next_step::sleep);
}

TEST(wake_policy, with_fewer_cores_than_nodes_a_thread_gives_way_at_its_second_look) {
  pace p = some_pace();
  p.share_cores();
  polling w(p);
  EXPECT_EQ(w.look(1'000, false), next_step::poll);
  EXPECT_EQ(w.look(1'001, false), next_step::give_way);
  EXPECT_EQ(w.look(1'100, true), next_step::poll) << "something has come";
  EXPECT_EQ(w.look(1'101, false), next_step::give_way);
  EXPECT_EQ(w.look(1'101 + p.spin_ns, false), next_step::sleep);
}

TEST(wake_policy, whatever_comes_a_thread_does_not_drive_for_ever) {
  const pace p = some_pace();
  polling w(p);
  EXPECT_EQ(w.look(1, true), next_step::poll);
  EXPECT_EQ(w.look(1 + p.longest_drive_ns, true), next_step::poll);
  EXPECT_EQ(w.look(2 + p.longest_drive_ns, true), next_step::sleep);
}

TEST(wake_policy, without_time_to_poll_a_thread_sleeps_at_its_second_look) {
  pace p = some_pace();
  p.spin_ns = 0;
  polling w(p);
  EXPECT_EQ(w.look(1, false), next_step::poll);
  EXPECT_EQ(w.look(2, false), next_step::sleep);
}

TEST(wake_policy, the_service_thread_looks_on_longer_where_it_pays_and_shorter_where_not) {
  const pace p = some_pace();
  service_spin s(p);
  for (int i = 0; i < 10; ++i) {  // each time something comes while it looks on
    s.begin();
    s.served(1'000, false);
    EXPECT_EQ(s.look(2'000), next_step::poll);
    s.served(3'000, false);
    EXPECT_EQ(s.look(4'000), next_step::poll);
    EXPECT_EQ(s.look(4'001 + s.ns()), next_step::sleep);
    s.end();
  }
  EXPECT_EQ(s.ns(), p.service_spin_ns * p.longest_spin);
  for (int i = 0; i < 10; ++i) {
    s.begin();
    s.served(1'000, false);
    EXPECT_EQ(s.look(2'000), next_step::poll);
    EXPECT_EQ(s.look(2'001 + s.ns()), next_step::sleep);
    s.end();
  }
  EXPECT_EQ(s.ns(), p.service_spin_ns);
}

TEST(wake_policy, what_follows_soon_is_waited_for) {
  const pace p = some_pace();
  service_spin s(p);
  s.begin();
  EXPECT_FALSE(s.may_follow_up(50'000));
  s.served(50'000, true);
  EXPECT_TRUE(s.may_follow_up(50'000 + p.follow_up_ns - 1));
  EXPECT_FALSE(s.may_follow_up(50'000 + p.follow_up_ns));
  s.served(60'000, true);
  s.served(60'001, false);  // it has come
  EXPECT_FALSE(s.may_follow_up(60'002));
}

TEST(wake_policy, threads_that_drive_again_and_again_are_a_burst_until_they_stop) {
  const pace p = some_pace();
  bursts b(p);
  std::uint64_t now = 1'000'000;
  b.left(now);
  for (unsigned i = 0; i < p.burst; ++i) {
    EXPECT_FALSE(b.lasts()) << i;
    b.left(now += p.soon_ns - 1);
  }
  EXPECT_TRUE(b.lasts());
  EXPECT_TRUE(b.lasts(now + p.soon_ns - 1));
  EXPECT_FALSE(b.lasts(now + p.soon_ns));
  b.left(now += p.soon_ns);
  EXPECT_FALSE(b.lasts());
}

TEST(wake_policy, a_thread_that_never_waits_looks_now_and_then) {
  const pace p = some_pace();
  bursts b(p);
  EXPECT_TRUE(b.is_look_due(1'000'000));
  EXPECT_FALSE(b.is_look_due(1'000'000 + p.look_every_ns - 1));
  EXPECT_TRUE(b.is_look_due(1'000'000 + p.look_every_ns));
}

TEST(wake_policy, ticks_get_longer_to_a_bound) {
  const pace p = some_pace();
  ticks t(p);
  EXPECT_EQ(t.next_ns(), p.tick_ns);
  EXPECT_EQ(t.next_ns(), 2 * p.tick_ns);
  EXPECT_EQ(t.next_ns(), 2 * p.tick_ns);
  t.end();
  EXPECT_EQ(t.next_ns(), p.tick_ns);
}

}  // namespace
}  // namespace quire::drive::wake_policy_test
