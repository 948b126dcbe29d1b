#include <gtest/gtest.h>

#include "engine/driver.hpp"

namespace quire::engine {
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

TEST(contention, the_while_grows_with_each_time_and_has_a_limit) {
  contention cores;
  std::uint64_t now = 0, last = 0;
  for (int i = 0; i < 12; ++i) {
    now += 1000 * ms;
    ASSERT_TRUE(cores.noticed(now - 2 * ms, now));
    std::uint64_t pause = 0;
    while (cores.present(now + pause)) pause += ms;
    EXPECT_GE(pause, last);
    last = pause;
  }
  EXPECT_EQ(last, 500 * ms);
}

TEST(contention, it_is_forgotten_when_polling_pays) {
  contention cores;
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(cores.noticed(0, 2 * ms));
  for (int i = 0; i < 100; ++i) cores.calm();
  ASSERT_TRUE(cores.noticed(1000 * ms, 1002 * ms));
  EXPECT_FALSE(cores.present(1008 * ms));
}

}  // namespace
}  // namespace quire::engine
