// SPDX-License-Identifier: BSD-3-Clause
// Page locking under release consistency, as charts (src/protocol/release/pinning.cpp). What the home tells before it
// grants a pin, and what ends before a pin does, is node.hpp's.
#include <gmock/gmock.h>

#include "release_chart.hpp"

namespace quire::release::release_pin_test {
namespace {

TEST(release_pin, the_home_pins_without_a_message) {
  chart c(2);
  EXPECT_EQ(c.pin(0), fault_outcome::local);
  EXPECT_TRUE(c.unpin(0));
  EXPECT_EQ(c.take(), lines(R"(
    0: pin
    0: permit none > write
    0: unpin)"));
  EXPECT_FALSE(c.unpin(0));
}

TEST(release_pin, the_content_comes_with_the_pin) {
  chart c(2);
  c.before(0, access::write);
  EXPECT_EQ(c.pin(1), fault_outcome::started);
  EXPECT_TRUE(c.at(1).pins().awaits_grant(0));
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::started) << "and need not be asked for";
  c.run();
  EXPECT_EQ(c.pin(1, true), fault_outcome::local);
  EXPECT_EQ(c.take(), lines(R"(
    1: pin
    1 -> 0 pin_request
    1: read fault
    0: protect write > read
    0 -> 1 pin_grant
    1: permit none > read
    1: wake
    1: twin
    1: permit read > write
    1: wake
    1: pin again)"));
  EXPECT_EQ(c.at(0).pins().holder_of(0), node_id{1});
  EXPECT_TRUE(c.unpin(1));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: unpin
    1 -> 0 pin_end)"));
}

TEST(release_pin, what_is_here_stays_and_is_not_sent_again) {
  chart c(2);
  c.before(1, access::write);
  c.pin(1);
  EXPECT_FALSE(c.at(1).pins().awaits_grant(0));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: pin
    1 -> 0 pin_request
    0 -> 1 pin_grant
    1: wake)"));
}

TEST(release_pin, requests_of_others_wait_for_its_end_in_their_order) {
  chart c(4);
  c.before(0, access::write);
  c.pin(1);
  c.run();
  c.fault(2, access::read);
  c.pin(3);
  c.run();
  c.pin(0);
  c.add(2, 7);
  c.run();
  EXPECT_EQ(c.at(0).count().pin_waits, 4u);
  (void)c.take();
  EXPECT_TRUE(c.unpin(1));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: unpin
    1 -> 0 pin_end
    0 -> 2 copy_reply +data
    0 -> 0 pin_next
    2: permit none > read
    2: wake
    0 -> 3 pin_grant
    3: twin
    3: permit none > write
    3: wake)"));
  (void)c.pin(3, true);
  (void)c.take();
  EXPECT_TRUE(c.unpin(3));
  c.run();
  EXPECT_EQ(c.unit(0).pinned, 1u) << "before the atomic operation, which came after it";
  EXPECT_THAT(c.take(), testing::Not(testing::HasSubstr("operate")));
  EXPECT_TRUE(c.unpin(0));
  c.run();
  EXPECT_THAT(c.take(), testing::HasSubstr("2: complete"));
  EXPECT_EQ(c.unit(0).granted, 0u);
}

TEST(release_pin, what_the_holders_node_asks_is_served_whatever_waits) {
  chart c(3);
  c.before(0, access::write);
  c.pin(1);
  c.run();
  c.fault(2, access::read);
  c.run();
  c.notice(1);  // another's write of the unit
  (void)c.take();
  c.fault(1, access::read);
  c.add(1, 5);
  c.run();
  EXPECT_EQ(c.unit(1).mapped(), access::read);
  EXPECT_EQ(c.unit(2).mapped(), access::none);
  EXPECT_THAT(c.take(),
              testing::AllOf(testing::HasSubstr("0 -> 1 copy_reply +data"), testing::HasSubstr("1: complete")));
}

TEST(release_pin, what_the_holders_node_had_asked_before_is_served_with_the_pin) {
  chart c(3);
  c.before(0, access::write);
  c.pin(2);
  c.run();
  c.fault(1, access::read);  // first in the queue, then the pin, then an atomic operation
  c.pin(1);
  c.add(1, 5);
  c.run();
  (void)c.take();
  EXPECT_TRUE(c.unpin(2));
  c.run();
  EXPECT_EQ(c.unit(1).pinned, 1u);
  EXPECT_EQ(c.pin(1, true), fault_outcome::local);
  EXPECT_THAT(c.take(), testing::HasSubstr("1: complete")) << "or the holder would wait for itself";
}

TEST(release_pin, news_that_came_while_the_pin_was_waited_for_make_its_content_stale) {
  chart c(2);
  c.before(0, access::write);
  c.pin(1);
  c.notice(1);
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: protect write > read
    0 -> 1 pin_grant
    1 -> 0 copy_request
    0 -> 1 copy_reply +data
    1: twin
    1: permit none > write
    1: wake)"));
  EXPECT_EQ(c.pin(1, true), fault_outcome::local);
}

TEST(release_pin, news_that_the_home_has_told_do_not) {
  chart c(2);
  c.before(0, access::write);
  c.pin(1);
  c.notice_by(1, 0);
  c.run();
  EXPECT_EQ(c.unit(1).mapped(), access::write);
  EXPECT_EQ(c.at(1).count().stale_replies, 0u);
}

TEST(release_pin, a_pin_that_nobody_wants_any_more_goes_back) {
  chart c(3);
  c.pin(1);
  c.give_pin_up(1);
  c.pin(2);
  c.run();
  EXPECT_EQ(c.unit(1).pinned, 0u);
  EXPECT_EQ(c.unit(2).pinned, 1u);
  EXPECT_EQ(c.at(1).outstanding(), 0u);
  c.pin(0);
  c.give_pin_up(0);
  EXPECT_TRUE(c.unpin(2));
  c.run();
  EXPECT_EQ(c.unit(0).granted, 0u);
}

TEST(release_pin, the_home_does_not_move_while_a_unit_is_pinned_or_asked_for) {
  chart c(3);
  c.before(1, access::write);
  c.release(1);
  c.run();
  c.pin(1);
  c.run();
  EXPECT_FALSE(c.only_writer(0, 1));
  EXPECT_TRUE(c.unpin(1));
  c.release(1);
  c.run();
  EXPECT_TRUE(c.only_writer(0, 1));
}

/// What its threads wrote under their pin is told by its next grant. Another home would grant without a word of it.
TEST(release_pin, the_home_does_not_move_between_a_pin_of_its_own_and_the_next_grant) {
  chart c(3, false, updates::learned, false, true);
  c.pin(0);
  EXPECT_TRUE(c.unpin(0));
  ASSERT_TRUE(c.please_take(1));
  c.run();
  EXPECT_TRUE(c.at(0).is_home(0)) << "it gives a copy";
  c.pin(2);
  c.run();
  EXPECT_TRUE(c.unpin(2));
  c.run();
  ASSERT_TRUE(c.please_take(1));
  c.run();
  EXPECT_TRUE(c.at(1).is_home(0));
}

TEST(release_pin, who_was_home_passes_requests_on) {
  chart c(3);
  c.before(1, access::write);
  c.release(1);
  c.run();
  EXPECT_TRUE(c.only_writer(0, 1));
  c.run();
  (void)c.take();
  c.pin(2);
  c.run();
  EXPECT_TRUE(c.unpin(2));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: pin
    2 -> 0 pin_request
    0 -> 1 pin_request for 2
    1 -> 2 pin_grant
    2: twin
    2: permit none > write
    2: wake
    2: unpin
    2 -> 1 pin_end)"));
  EXPECT_EQ(c.unit(1).granted, 0u);
}

}  // namespace
}  // namespace quire::release::release_pin_test
