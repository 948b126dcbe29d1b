// SPDX-License-Identifier: BSD-3-Clause
// Threads that queue operations, drive for each other and sleep, as core::run does: what one driver wrote the next one
// sees, each operation runs once and ends once, and nobody sleeps on. For the thread sanitizer above all.
#include "drive/driver.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace quire::drive::driver_test {
namespace {

constexpr int threads = 4, rounds = 5000;

/// Operations get an engine that these do not look at.
core::core& no_core() noexcept {
  alignas(std::max_align_t) static std::byte nothing[1];
  return reinterpret_cast<core::core&>(nothing);
}

/// What only the driver touches.
struct node {
  driver right;
  std::uint64_t executed = 0;
  core::op* parked = nullptr;  ///< operations that wait for a message

  static void execute(core::op& o) noexcept { o.execute(no_core()); }
  void execute_queue() noexcept { right.execute_queued(execute); }
  void hand_over() noexcept {
    right.unlock();
    while (!right.queue.empty() && right.try_lock()) {
      execute_queue();
      right.unlock();
    }
  }
  /// As core::run without patience: `o` is executed, or queued.
  void start(core::op& o) noexcept {
    if (!right.try_lock()) return right.queue.push(o);
    right.execute_in_turn(o, execute);
    hand_over();
  }
  void run(core::op& o) noexcept {
    start(o);
    for (int spins = 0; !o.done(); ++spins) {
      if (right.try_lock()) {
        execute_queue();
        hand_over();
      } else if (spins % 8 == 7) {
        (void)o.sleep(-1);  // who has the right looks at the queue when it gives it up
      }
    }
  }
};

/// What waits for a message until a later operation of its thread cancels it.
struct patient : core::op {
  explicit patient(node& n) noexcept : op(wait, type::call), at(n) {}
  static void wait(core::core&, core::op& self) noexcept {
    auto& o = static_cast<patient&>(self);
    ++o.at.executed;
    o.known = true;
  }
  node& at;
  bool known = false;
};
struct cancelling : core::op {
  explicit cancelling(patient& what) noexcept : op(cancel, type::call), late(what) {}
  static void cancel(core::core&, core::op& self) noexcept {
    auto& o = static_cast<cancelling&>(self);
    if (o.late.known) o.late.complete(QUIRE_TIMED_OUT);
    self.complete();
  }
  patient& late;
};

struct counting : core::op {
  counting(node& n, bool later) noexcept : op(later ? park : count, type::call), at(n) {}
  static void count(core::core&, core::op& self) noexcept {
    ++static_cast<counting&>(self).at.executed;
    self.complete();
  }
  static void park(core::core&, core::op& self) noexcept {
    node& n = static_cast<counting&>(self).at;
    ++n.executed;
    self.next = n.parked;
    n.parked = &self;
  }
  node& at;
};

TEST(driver, operations_of_many_threads_run_once_and_one_after_another) {
  node n;
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) {
          counting o(n, false);
          n.run(o);
          ASSERT_TRUE(o.result().ok());
        }
      });
    }
  }
  EXPECT_EQ(n.executed, std::uint64_t{threads} * rounds);
  EXPECT_TRUE(n.right.queue.empty());
}

TEST(driver, what_ends_by_a_message_wakes_who_sleeps) {
  node n;
  std::atomic<int> left{threads};
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&] {
        for (int i = 0; i < rounds / 10; ++i) {
          counting o(n, true);
          n.run(o);
          ASSERT_FALSE(o.result().ok());
        }
        --left;
      });
    }
    // The network: ends what waits, the youngest first.
    all.emplace_back([&] {
      while (left.load() != 0) {
        if (!n.right.try_lock()) continue;
        n.execute_queue();
        while (n.parked != nullptr) std::exchange(n.parked, n.parked->next)->complete(QUIRE_BUSY);
        n.hand_over();
        std::this_thread::yield();
      }
    });
  }
  EXPECT_EQ(n.executed, std::uint64_t{threads} * (rounds / 10));
  EXPECT_EQ(n.parked, nullptr);
}

/// The driver has given up the right, and has not looked at the queue yet, when the time of a queued operation is over:
/// its thread gets the right, and must not be the one that overtakes itself.
TEST(driver, an_operation_does_not_overtake_what_its_thread_queued_before) {
  node n;
  ASSERT_TRUE(n.right.try_lock());
  patient o(n);
  n.right.queue.push(o);
  n.right.unlock();
  cancelling cancel(o);
  ASSERT_TRUE(n.right.try_lock());
  n.right.execute_in_turn(cancel, node::execute);
  n.right.unlock();
  EXPECT_TRUE(cancel.done());
  EXPECT_TRUE(o.done());
  EXPECT_EQ(o.result().code(), QUIRE_TIMED_OUT);
  EXPECT_TRUE(n.right.queue.empty());
}

TEST(driver, what_is_cancelled_is_known_to_nobody_afterwards) {
  node n;
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) {
          patient o(n);
          n.start(o);
          cancelling cancel(o);
          n.run(cancel);
          ASSERT_TRUE(o.done());
        }
      });
    }
  }
  EXPECT_EQ(n.executed, std::uint64_t{threads} * rounds);
}

}  // namespace
}  // namespace quire::drive::driver_test
