// SPDX-License-Identifier: BSD-3-Clause
// Waking other nodes by shared memory and a pipe (src/transport/common/bells.hpp): several nodes in one process.
#include "transport/common/bells.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <thread>

namespace quire::transport::bells_test {
namespace {

struct node_bells : bells {
  [[nodiscard]] bool rings() const {
    pollfd ready{descriptor(), POLLIN, 0};
    return ::poll(&ready, 1, 0) == 1;
  }
};

struct pair_of_bells : testing::Test {
  node_bells a, b;
  void meet() {
    ASSERT_TRUE(a.open() && b.open());
    a.meet(0, {a.own(), b.own()});
    b.meet(1, {a.own(), b.own()});
  }
};

TEST_F(pair_of_bells, wake_sleepers_only) {
  meet();
  EXPECT_TRUE(a.met_by_all() && b.met_by_all());
  a.wake(1, urgency::now);
  EXPECT_FALSE(b.rings());  // it does not sleep
  ASSERT_TRUE(b.arm(urgency::now));
  a.wake(1, urgency::later);
  EXPECT_FALSE(b.rings());
  a.wake(1, urgency::now);
  EXPECT_TRUE(b.rings());
  EXPECT_FALSE(b.arm(urgency::now));  // it was woken
  EXPECT_FALSE(b.rings());
  ASSERT_TRUE(b.arm(urgency::later));
  a.wake(1, urgency::later);
  EXPECT_TRUE(b.rings());
  EXPECT_FALSE(a.rings());
}

// Of several who write to one, the first in the queue may come last: an urgent message behind it cannot be seen before.
TEST_F(pair_of_bells, an_urgent_message_may_lie_behind_one_that_is_not) {
  node_bells c;
  ASSERT_TRUE(a.open() && b.open() && c.open());
  const std::vector<bells::address> all{a.own(), b.own(), c.own()};
  a.meet(0, all);
  b.meet(1, all);
  c.meet(2, all);
  a.begin(1, urgency::later);
  ASSERT_TRUE(b.arm(urgency::now));
  a.end(1, urgency::later);
  a.wake(1, urgency::later);
  EXPECT_TRUE(b.rings());
  EXPECT_FALSE(b.arm(urgency::now));
  ASSERT_TRUE(b.arm(urgency::now));
  c.begin(1, urgency::later);
  c.end(1, urgency::later);
  c.wake(1, urgency::later);
  EXPECT_FALSE(b.rings());
}

TEST_F(pair_of_bells, one_wakes_once) {
  meet();
  ASSERT_TRUE(b.arm(urgency::later));
  for (int i = 0; i < 100'000; ++i) a.wake(1, urgency::now);  // more than a pipe has room for
  EXPECT_FALSE(b.arm(urgency::later));
  EXPECT_TRUE(b.arm(urgency::later));
  b.disarm();
  a.wake(1, urgency::now);
  EXPECT_FALSE(b.rings());
}

TEST_F(pair_of_bells, signals_fill_the_pipe_and_nothing_breaks) {
  meet();
  for (int i = 0; i < 100'000; ++i) b.signal();
  EXPECT_TRUE(b.rings());
  while (!b.arm(urgency::later)) continue;
  EXPECT_FALSE(b.rings());
  a.wake(1, urgency::now);
  EXPECT_TRUE(b.rings());
}

TEST_F(pair_of_bells, who_cannot_be_met_is_not) {
  ASSERT_TRUE(a.open() && b.open());
  bells::address forged = b.own();
  forged.mark ^= 2;  // another page than the one that was meant
  a.meet(0, {a.own(), forged});
  EXPECT_FALSE(b.met_by_all());
  bells::address swapped = b.own();
  std::swap(swapped.page, swapped.pipe);
  a.meet(0, {a.own(), swapped});
  EXPECT_FALSE(b.met_by_all());
  bells::address gone = b.own();
  gone.process = 0;
  a.meet(0, {a.own(), gone});
  a.meet(0, {a.own(), {}});
  EXPECT_FALSE(b.met_by_all());
  a.wake(1, urgency::now);  // nobody
  a.wake(7, urgency::now);
}

TEST_F(pair_of_bells, a_dead_node_can_be_woken) {
  meet();
  ASSERT_TRUE(b.arm(urgency::later));
  b.~node_bells();
  a.wake(1, urgency::now);  // no SIGPIPE
  new (&b) node_bells;
}

// Either the sleeper sees what was written when it looks after arming, or it is woken.
TEST_F(pair_of_bells, no_wake_up_is_lost) {
  meet();
  constexpr unsigned rounds = 20'000;
  std::atomic<unsigned> ball{0};
  const auto play = [&](bells& own, std::size_t other, unsigned mine) {
    for (unsigned round = mine; round < rounds; round += 2) {
      while (ball.load(std::memory_order_relaxed) != round) {
        if (!own.arm(round % 3 == 0 ? urgency::later : urgency::now) || ball.load(std::memory_order_relaxed) == round)
          continue;
        pollfd ready{own.descriptor(), POLLIN, 0};
        ASSERT_EQ(::poll(&ready, 1, 5'000), 1) << "not woken in round " << round;
      }
      own.disarm();
      ball.store(round + 1, std::memory_order_relaxed);
      own.wake(other, urgency::now);
    }
  };
  std::thread other([&] { play(b, 0, 1); });
  play(a, 1, 0);
  other.join();
}

}  // namespace
}  // namespace quire::transport::bells_test
