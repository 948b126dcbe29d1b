// SPDX-License-Identifier: BSD-3-Clause
// Who waits for locks of ranges gets them in order, and never for ever.
#include "container/lock_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <vector>

namespace quire::container::lock_queue_test {
namespace {

using outcome = lock_queue::outcome;
constexpr lock_kind none = lock_kind::none, shared = lock_kind::shared, exclusive = lock_kind::exclusive;
constexpr std::uint64_t end = INT64_MAX;

struct files {
  lock_queue all{};
  bool of_flock = false;
  outcome set(std::uint64_t owner, lock_kind kind, std::uint16_t file = 1, std::uint64_t first = 0,
              std::uint64_t last = end, lock_wait how = lock_wait::none) {
    return all.set(file, {{owner, 0, of_flock}, kind, first, last}, how);
  }
  outcome wait(std::uint64_t owner, lock_kind kind, std::uint16_t file = 1, std::uint64_t first = 0,
               std::uint64_t last = end) {
    return set(owner, kind, file, first, last, lock_wait::queues);
  }
};

TEST(lock_queue, who_came_first_gets_it_first) {
  files f;
  EXPECT_EQ(f.set(1, exclusive), outcome::done);
  for (const std::uint64_t owner : {2, 3, 4}) EXPECT_EQ(f.wait(owner, exclusive), outcome::in_the_way);
  EXPECT_EQ(f.all.waiting(), 3u);
  EXPECT_EQ(f.set(1, none), outcome::done);
  for (const std::uint64_t owner : {2, 3, 4}) {
    for (std::uint64_t later = owner + 1; later <= 4; ++later)
      EXPECT_EQ(f.wait(later, exclusive), outcome::in_the_way) << later << " overtakes " << owner;
    EXPECT_EQ(f.wait(owner, exclusive), outcome::done);
    EXPECT_EQ(f.set(owner, none), outcome::done);
  }
  EXPECT_EQ(f.all.waiting(), 0u);
}

TEST(lock_queue, readers_do_not_overtake_a_writer_who_waits) {
  files f;
  EXPECT_EQ(f.set(1, shared), outcome::done);
  EXPECT_EQ(f.wait(2, exclusive), outcome::in_the_way);
  EXPECT_EQ(f.wait(3, shared), outcome::in_the_way);
  EXPECT_EQ(f.wait(1, shared, 1, 0, 9), outcome::done) << "the writer waits for this owner";
  EXPECT_EQ(f.set(4, shared), outcome::done) << "who does not wait has no turn";
  EXPECT_EQ(f.set(2, exclusive, 1, 0, end, lock_wait::withdraws), outcome::done);
  EXPECT_EQ(f.wait(3, shared), outcome::done);
}

TEST(lock_queue, who_closes_a_circle_is_told) {
  for (const bool of_flock : {false, true}) {
    files f;
    f.of_flock = of_flock;
    for (std::uint64_t owner = 1; owner <= 3; ++owner)
      EXPECT_EQ(f.set(owner, exclusive, static_cast<std::uint16_t>(owner)), outcome::done);
    EXPECT_EQ(f.wait(1, shared, 2), outcome::in_the_way);
    EXPECT_EQ(f.wait(2, shared, 3), outcome::in_the_way);
    EXPECT_EQ(f.wait(3, shared, 1), of_flock ? outcome::in_the_way : outcome::deadlock);
    EXPECT_EQ(f.all.waiting(), of_flock ? 3u : 2u) << "who was told does not wait";
    EXPECT_EQ(f.set(3, none, 3), outcome::done);
    EXPECT_EQ(f.wait(2, shared, 3), outcome::done);
  }
}

TEST(lock_queue, two_readers_who_both_want_to_write_are_a_circle) {
  files f;
  EXPECT_EQ(f.set(1, shared), outcome::done);
  EXPECT_EQ(f.set(2, shared), outcome::done);
  EXPECT_EQ(f.wait(1, exclusive), outcome::in_the_way);
  EXPECT_EQ(f.wait(2, exclusive), outcome::deadlock);
  EXPECT_EQ(f.set(2, none), outcome::done);
  EXPECT_EQ(f.wait(1, exclusive), outcome::done);
}

TEST(lock_queue, so_many_may_wait) {
  files f;
  EXPECT_EQ(f.set(0, exclusive), outcome::done);
  for (std::uint64_t owner = 1; owner <= lock_queue::most_waiting; ++owner)
    ASSERT_EQ(f.wait(owner, exclusive), outcome::in_the_way);
  constexpr std::uint64_t one_more = lock_queue::most_waiting + 1;
  EXPECT_EQ(f.wait(one_more, exclusive), outcome::full);
  EXPECT_EQ(f.set(0, none, 1, 0, end, lock_wait::queues), outcome::done) << "what goes waits for nobody";
  EXPECT_EQ(f.wait(one_more - 1, exclusive), outcome::in_the_way);
  EXPECT_EQ(f.wait(1, exclusive), outcome::done);
  EXPECT_EQ(f.wait(one_more, exclusive), outcome::in_the_way);
}

TEST(lock_queue, goes_with_its_container) {
  files f;
  EXPECT_EQ(f.set(1, exclusive, 7), outcome::done);
  EXPECT_EQ(f.wait(2, exclusive, 7), outcome::in_the_way);
  f.all.drop(7);
  EXPECT_EQ(f.all.waiting(), 0u);
  EXPECT_EQ(f.all.count(), 0u);
}

/// Owners take, wait for, and give back what they draw. Whoever waits when nobody else does anything is served, or was
/// told of a circle; and no two have what conflicts.
TEST(lock_queue, nobody_waits_for_ever) {
  constexpr std::uint64_t owners = 5;
  int circles = 0, waits = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    files f;
    std::array<std::optional<std::pair<std::uint16_t, range_lock>>, owners> wanted{};
    const auto ask_again = [&](std::uint64_t owner) {
      auto& [file, lock] = *wanted[owner];
      const auto got = f.all.set(file, lock, lock_wait::queues);
      if (got != outcome::in_the_way) wanted[owner].reset();
      circles += got == outcome::deadlock;
      return got != outcome::in_the_way;
    };
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t owner = random() % owners;
      if (wanted[owner]) {
        (void)ask_again(owner);
        continue;
      }
      const auto file = static_cast<std::uint16_t>(random() % 2);
      const std::uint64_t first = random() % 3;
      const range_lock lock{{owner, 0, false}, random() % 2 != 0 ? shared : exclusive, first, first + random() % 2};
      if (random() % 4 == 0) {
        EXPECT_EQ(f.set(owner, none, file), outcome::done);
        continue;
      }
      wanted[owner] = {file, lock};
      waits += !ask_again(owner);
    }
    // From now on everyone who does not wait gives all back.
    for (int round = 0; round < 100; ++round) {
      for (std::uint64_t owner = 0; owner < owners; ++owner) {
        if (wanted[owner] && !ask_again(owner)) continue;
        for (const std::uint16_t file : {0, 1}) EXPECT_EQ(f.set(owner, none, file), outcome::done);
      }
    }
    ASSERT_EQ(f.all.waiting(), 0u) << "seed " << seed;
    ASSERT_EQ(f.all.count(), 0u) << "seed " << seed;
  }
  EXPECT_GT(circles, 100);
  EXPECT_GT(waits, 1000);
}

}  // namespace
}  // namespace quire::container::lock_queue_test
