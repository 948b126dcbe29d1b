// SPDX-License-Identifier: BSD-3-Clause
// Waking other nodes by shared memory and a pipe (src/transport/rings/bells.hpp): several nodes in one process.
#include "transport/rings/bells.hpp"

#include <gtest/gtest.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <thread>

#include "base/clock.hpp"
#include "os/futex.hpp"

namespace quire::transport::rings::bells_test {
namespace {

struct node_bells : bells {
  alignas(page_bytes) std::byte page[page_bytes] = {};
  [[nodiscard]] bool open() { return bells::open(page); }
  [[nodiscard]] bool rings() const {
    pollfd ready{descriptor(), POLLIN, 0};
    return ::poll(&ready, 1, 0) == 1;
  }
};

struct pair_of_bells : testing::Test {
  node_bells a, b;
  void meet() {
    ASSERT_TRUE(a.open() && b.open());
    a.expect(2);
    b.expect(2);
    ASSERT_TRUE(a.meet(1, b.own(), b.page) && b.meet(0, a.own(), a.page));
  }
};

TEST_F(pair_of_bells, wake_sleepers_only) {
  meet();
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

TEST_F(pair_of_bells, a_thread_that_sleeps_on_the_word_needs_no_pipe) {
  meet();
  const futex_word word = b.word();
  ASSERT_TRUE(b.arm_thread());
  EXPECT_EQ(word.at->load(), word.value);
  a.wake(1, urgency::later);
  EXPECT_NE(word.at->load(), word.value);
  EXPECT_FALSE(b.rings());
  ASSERT_TRUE(b.arm_thread());
  ASSERT_TRUE(b.arm(urgency::now)) << "the service thread sleeps now, and the thread computes";
  EXPECT_NE(word.at->load(), word.value);
  a.wake(1, urgency::later);
  EXPECT_FALSE(b.rings());
  a.wake(1, urgency::now);
  EXPECT_TRUE(b.rings());
  EXPECT_FALSE(b.arm_thread()) << "it was woken";
  ASSERT_TRUE(b.arm_thread());
  b.disarm();
  EXPECT_NE(word.at->load(), word.value);
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
  a.expect(2);
  bells::address forged = b.own();
  forged.mark ^= 2;  // another page than the one that was meant
  EXPECT_FALSE(a.meet(1, forged, b.page));
  bells::address file = b.own();
  file.pipe = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_FALSE(a.meet(1, file, b.page));
  ::close(file.pipe);
  bells::address gone = b.own();
  gone.process = 0;
  EXPECT_FALSE(a.meet(1, gone, b.page));
  EXPECT_FALSE(a.meet(1, {}, a.page));
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
        const bool by_word = round % 5 == 1;
        const bool armed = by_word ? own.arm_thread() : own.arm(round % 3 == 0 ? urgency::later : urgency::now);
        if (!armed || ball.load(std::memory_order_relaxed) == round) continue;
        if (by_word) {
          const auto since = base::now_ns();
          os::futex_wait_shared(*own.word().at, own.word().value, 5'000'000'000);
          ASSERT_LT(base::now_ns() - since, 5'000'000'000u) << "not woken in round " << round;
          continue;
        }
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
}  // namespace quire::transport::rings::bells_test
