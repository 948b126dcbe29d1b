// SPDX-License-Identifier: BSD-3-Clause
#include "core/lingers.hpp"

#include <gtest/gtest.h>

namespace quire::core {
namespace {

TEST(lingers, a_clock_is_asked_for_once_until_it_rings) {
  lingers l;
  EXPECT_EQ(l.next_look(100), 0u);
  l.add(5, 120);
  EXPECT_EQ(l.next_look(100), 120u);
  l.add(5, 130);  // freed again
  EXPECT_EQ(l.next_look(110), 0u);
  EXPECT_EQ(l.take_over(120), 0u);
  EXPECT_EQ(l.next_look(120), 130u);
}

TEST(lingers, a_host_that_goes_to_sleep_is_told_again) {
  lingers l;
  EXPECT_EQ(l.end_of_first(), 0u);
  l.add(5, 130);
  l.add(6, 120);
  EXPECT_EQ(l.next_look(100), 120u);
  EXPECT_EQ(l.end_of_first(), 120u);
  EXPECT_EQ(l.next_look(119), 0u);
}

TEST(lingers, what_is_over_goes_once) {
  lingers l;
  l.add(5, 120);
  l.add(6, 140);
  EXPECT_EQ(l.take_over(119), 0u);
  EXPECT_EQ(l.take_over(130), 5u);
  EXPECT_EQ(l.take_over(130), 0u);
  EXPECT_FALSE(l.empty());
  EXPECT_EQ(l.take_over(200), 6u);
  EXPECT_TRUE(l.empty());
  EXPECT_EQ(l.end_of_first(), 0u);
}

}  // namespace
}  // namespace quire::core
