// SPDX-License-Identifier: BSD-3-Clause
// Requests that meet: they queue at the manager and nowhere else, one at a time is served until its `done` (invariant
// I5; Millipage, section 3.3: "A host which receives a request is never in the process of acquiring the same
// minipage"), threads of one node share one request, and what was lost unused is held for a while the next time.
// Requests that the manager settles at once stand in sequential_settled_test.
#include "sequential_chart.hpp"

namespace quire::sequential::sequential_race_test {
namespace {

TEST(sequential_race, next_order_waits_for_the_done_of_the_one_before) {
  chart c(4);
  c.before(3, access::write);
  (void)c.fault(1, access::write);
  (void)c.fault(2, access::write);
  c.deliver(message_kind::write_request, 0);
  c.deliver(message_kind::write_request, 0);
  c.deliver(message_kind::fetch_write, 3);
  c.deliver(message_kind::write_reply, 1);
  EXPECT_EQ(c.in_flight(), 1u) << "only the done: no order for node 1 before it";
  EXPECT_EQ(c.at(0).count().competing_requests, 1u);
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0 -> 1 fetch_write
    1: protect write > none
    1 -> 2 write_reply +data
    2: permit none > write
    2 -> 0 done
    2: wake
  )"));
}

TEST(sequential_race, requests_are_served_in_the_order_of_their_arrival) {
  chart c(4);
  c.before(0, access::write);
  for (const std::uint16_t n : {3, 1, 2}) (void)c.fault(n, access::write);
  (void)c.take();
  c.run();
  const std::string text = c.take();
  EXPECT_LT(text.find("3: wake"), text.find("1: wake"));
  EXPECT_LT(text.find("1: wake"), text.find("2: wake"));
}

TEST(sequential_race, threads_of_a_node_that_fault_together_cause_one_request_and_one_wake) {
  chart c(2);
  c.before(0, access::write);
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::started);
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::joined);
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::joined);
  EXPECT_EQ(c.in_flight(), 1u);
  EXPECT_EQ(c.at(1).count().racing_faults, 2u);
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: protect write > read
    0 -> 1 read_reply +data
    1: permit none > read
    1: wake
  )"));
}

TEST(sequential_race, write_that_joins_a_read_upgrades_after_it) {
  chart c(3);
  c.before(2, access::write);
  (void)c.fault(1, access::read);
  EXPECT_EQ(c.fault(1, access::write), fault_outcome::joined);
  c.run();
  (void)c.take();
  EXPECT_EQ(c.fault(1, access::write), fault_outcome::started);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 write_request
    0 -> 2 invalidate
    0 -> 1 write_grant acks 1
    2: protect read > none
    2 -> 1 invalidate_ack
    1: permit read > write
    1 -> 0 done
    1: wake
  )"));
}

TEST(sequential_race, reader_that_loses_its_copy_while_it_asks_for_more_gets_the_content) {
  chart c(3);
  c.before(1, access::read);
  c.before(2, access::read);
  (void)c.fault(1, access::write);
  (void)c.fault(2, access::write);
  c.deliver(message_kind::write_request, 0);
  c.deliver(message_kind::invalidate, 2);
  EXPECT_EQ(c.at(2).right_of(0), access::none);
  c.run();
  EXPECT_EQ(c.at(2).right_of(0), access::write);
  EXPECT_NE(c.take().find("1 -> 2 write_reply +data"), std::string::npos);
}

TEST(sequential_race, done_waits_while_a_unit_is_held_that_was_lost_before) {
  chart c(3);
  c.before(0, access::write);
  (void)c.fault(1, access::write, 0, 2);  // twice already it was gone before the thread could go on
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 write_request
    0 -> 0 fetch_write
    0: protect write > none
    0 -> 1 write_reply +data
    1: permit none > write
    1: hold 2
    1: wake
  )"));
  (void)c.fault(2, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: write fault
    2 -> 0 write_request
  )")) << "it stays with node 1";
  c.hold_over(1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: hold is over
    1 -> 0 done
    0 -> 1 fetch_write
    1: protect write > none
    1 -> 2 write_reply +data
    2: permit none > write
    2 -> 0 done
    2: wake
  )"));
  c.hold_over(1);
  EXPECT_EQ(c.take(), "1: hold is over\n") << "once is enough";
}

TEST(sequential_race, request_of_the_holding_node_ends_its_hold) {
  chart c(3);
  c.before(0, access::write);
  (void)c.fault(1, access::read, 0, 1);
  c.run();
  (void)c.take();
  (void)c.fault(1, access::write);
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 done
    1 -> 0 write_request
  )")) << "else it would wait for itself";
  c.run();
  EXPECT_EQ(c.at(1).right_of(0), access::write);
}

TEST(sequential_race, request_that_overtakes_the_done_of_its_own_node_waits_for_it) {
  // No transport lets it; the manager does not depend on that here.
  chart c(3);
  c.before(2, access::write);
  (void)c.fault(1, access::read);
  for (int i = 0; i < 3; ++i) (void)c.step();
  (void)c.fault(1, access::write);
  (void)c.take();
  c.deliver(message_kind::write_request, 0);
  EXPECT_EQ(c.take(), "") << "queued";
  c.run();
  EXPECT_EQ(c.at(1).right_of(0), access::write);
}

}  // namespace
}  // namespace quire::sequential::sequential_race_test
