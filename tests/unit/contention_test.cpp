// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "drive/driver.hpp"

namespace quire::drive::contention_test {
namespace {

constexpr std::uint64_t ms = 1'000'000;

TEST(contention, a_thread_that_was_not_away_goes_on) {
  contention cores;
  EXPECT_FALSE(cores.noticed(10 * ms, 10 * ms + ms / 10));
  EXPECT_FALSE(cores.present(10 * ms));
}

TEST(contention, one_that_was_away_keeps_all_from_polling_for_a_while) {
  contention cores;
  EXPECT_TRUE(cores.noticed(10 * ms, 14 * ms));
  EXPECT_TRUE(cores.present(14 * ms));
  EXPECT_TRUE(cores.present(18 * ms));
  EXPECT_FALSE(cores.present(20 * ms));
}

/// Threads poll whenever they may, until they are away for 4 ms after `polled`. When they may again.
std::uint64_t lose(contention& cores, std::uint64_t now, std::uint64_t polled) {
  now += polled + 4 * ms;
  EXPECT_TRUE(cores.noticed(now - 4 * ms, now));
  while (cores.present(now)) now += ms;
  return now;
}

TEST(contention, the_while_grows_where_polling_is_soon_cut_off_and_has_a_limit) {
  contention cores;
  std::uint64_t now = 1000 * ms, last = 0;
  for (int i = 0; i < 12; ++i) {
    const std::uint64_t next = lose(cores, now, 10 * ms), pause = next - now - 14 * ms;
    EXPECT_GE(pause, last);
    last = pause;
    now = next;
  }
  EXPECT_EQ(last, 500 * ms);
}

/// What a program that fetches page after page lost beside busy processes: polling had paid many times before each
/// loss.
TEST(contention, beside_busy_processes_little_time_is_lost_to_polling) {
  contention cores;
  const std::uint64_t begin = 1000 * ms;
  std::uint64_t now = begin, away = 0;
  for (; now < begin + 20'000 * ms; away += 4 * ms) now = lose(cores, now, 6 * ms);
  EXPECT_LT(away * 50, now - begin);
}

/// Nodes of one job that take turns on a core, each computing for a moment.
TEST(contention, short_turns_of_others_do_not_add_up) {
  contention cores;
  std::uint64_t now = 1000 * ms;
  for (int i = 0; i < 50; ++i) {
    now += 2 * ms;
    ASSERT_TRUE(cores.noticed(now - ms, now));
    EXPECT_TRUE(cores.present(now + 4 * ms));
    EXPECT_FALSE(cores.present(now + 5 * ms));
    now += 5 * ms;
  }
  now = lose(cores, now, ms) + ms;  // and the first long one begins anew
  EXPECT_FALSE(cores.present(now));
}

TEST(contention, what_disturbs_seldom_keeps_nobody_from_polling) {
  contention cores;
  std::uint64_t now = 1000 * ms, polled = 0;
  const std::uint64_t begin = now;
  for (int i = 0; i < 50; ++i, polled += 300 * ms) now = lose(cores, now, 300 * ms);
  EXPECT_GT(polled * 10, (now - begin) * 8);
}

TEST(contention, it_is_forgotten_by_the_time_that_passes_without) {
  contention cores;
  std::uint64_t now = 1000 * ms;
  for (int i = 0; i < 12; ++i) now = lose(cores, now, ms);
  const std::uint64_t next = lose(cores, now, 10'000 * ms);
  EXPECT_LT(next - now, 10'300 * ms);
  now = next;
  now = lose(cores, now, 1'000'000 * ms);
  EXPECT_LE(lose(cores, now, 1000 * ms) - now, 1010 * ms);
}

TEST(contention, threads_that_notice_the_same_count_once) {
  contention cores;
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(cores.noticed(996 * ms, 1000 * ms));
  EXPECT_FALSE(cores.present(1005 * ms));
}

}  // namespace
}  // namespace quire::drive::contention_test
