// SPDX-License-Identifier: BSD-3-Clause
// Requests that the manager settles at once, since all that the requester waits for comes from the manager's own node:
// no order to itself, no `done` (invariant I7 of src/protocol/sequential/README.md). It relies on the order of messages
// between two nodes, so every chart here keeps it.
#include "sequential_chart.hpp"

namespace quire::sequential::sequential_settled_test {
namespace {

/// Whether the manager, node 0, waits for a `done` (or acknowledgements) before it takes the next request of unit 0.
bool busy(chart& c) { return !c.at(0).entry(0).requests.empty(); }

TEST(sequential_settled, read_costs_two_messages_and_leaves_the_manager_free) {
  chart c(3);
  c.before(0, access::write);
  (void)c.fault(2, access::read);
  c.deliver(message_kind::read_request, 0);
  EXPECT_FALSE(busy(c)) << "while the reply is on its way";
  c.run();
  EXPECT_EQ(c.hops(), 2u);
  EXPECT_EQ(c.take(), lines(R"(
    2: read fault
    2 -> 0 read_request
    0: protect write > read
    0 -> 2 read_reply +data
    2: permit none > read
    2: wake
  )"));
}

TEST(sequential_settled, read_takes_the_managers_copy_though_another_node_is_the_owner) {
  chart c(3);
  c.before(1, access::write);
  c.before(0, access::read);
  (void)c.fault(2, access::read);
  c.deliver(message_kind::read_request, 0);
  EXPECT_FALSE(busy(c));
  c.run();
  EXPECT_EQ(c.hops(), 2u);
  (void)c.fault(1, access::write);
  c.run();
  EXPECT_NE(c.take().find("0 -> 1 write_grant acks 2"), std::string::npos) << "the new reader is in the copyset";
}

TEST(sequential_settled, write_takes_the_managers_own_copy) {
  chart c(2);
  c.before(0, access::write);
  (void)c.fault(1, access::write);
  c.deliver(message_kind::write_request, 0);
  EXPECT_FALSE(busy(c));
  c.run();
  EXPECT_EQ(c.hops(), 2u);
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 write_request
    0: protect write > none
    0 -> 1 write_reply +data
    1: permit none > write
    1: wake
  )"));
  EXPECT_EQ(c.at(0).right_of(0), access::none);
}

TEST(sequential_settled, upgrade_gives_up_the_managers_copy_without_a_message) {
  chart c(2);
  c.before(0, access::write);
  c.before(1, access::read);
  (void)c.fault(1, access::write);
  c.deliver(message_kind::write_request, 0);
  EXPECT_FALSE(busy(c));
  c.run();
  EXPECT_EQ(c.hops(), 2u) << "no invalidation, no acknowledgement";
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 write_request
    0: protect read > none
    0 -> 1 write_grant
    1: permit read > write
    1: wake
  )"));
  EXPECT_EQ(c.at(0).count().invalidations, 1u);
}

TEST(sequential_settled, upgrade_of_the_owner_beside_the_managers_copy) {
  chart c(2);
  c.before(1, access::write);
  c.before(0, access::read);
  (void)c.fault(1, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 write_request
    0: protect read > none
    0 -> 1 write_grant
    1: permit read > write
    1: wake
  )"));
}

TEST(sequential_settled, atomic_on_the_managers_own_copy) {
  chart c(3);
  c.before(0, access::write);
  c.add(2, 5);
  c.deliver(message_kind::atomic_request, 0);
  EXPECT_FALSE(busy(c));
  c.run();
  EXPECT_EQ(c.hops(), 2u);
  EXPECT_EQ(c.take(), lines(R"(
    2: add
    2 -> 0 atomic_request
    0: operate
    0 -> 2 atomic_reply
    2: complete
  )"));
  EXPECT_EQ(c.at(0).right_of(0), access::write);
}

TEST(sequential_settled, not_while_other_nodes_have_copies) {
  chart c(4);
  c.before(0, access::write);
  c.before(1, access::read);
  (void)c.fault(2, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: write fault
    2 -> 0 write_request
    0 -> 1 invalidate
    0 -> 0 fetch_write acks 1
    1: protect read > none
    1 -> 2 invalidate_ack
    0: protect read > none
    0 -> 2 write_reply acks 1 +data
    2: permit none > write
    2 -> 0 done
    2: wake
  )"));
  c.before(0, access::write);
  c.before(1, access::read);
  c.add(2, 5);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: add
    2 -> 0 atomic_request
    0 -> 1 invalidate
    1: protect read > none
    1 -> 0 invalidate_ack
    0 -> 0 atomic_fetch
    0: operate
    0 -> 2 atomic_reply
    2 -> 0 done
    2: complete
  )"));
}

TEST(sequential_settled, not_for_the_managers_own_threads) {
  // What they lack comes from elsewhere, by another way than the manager's orders to its own node.
  chart c(2);
  c.before(1, access::write);
  (void)c.fault(0, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: write fault
    0 -> 0 write_request
    0 -> 1 fetch_write
    1: protect write > none
    1 -> 0 write_reply +data
    0: permit none > write
    0 -> 0 done
    0: wake
  )"));
}

TEST(sequential_settled, not_for_a_requester_that_wants_to_keep_the_unit) {
  chart c(3);
  c.before(0, access::write);
  (void)c.fault(1, access::read, 0, 1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: read fault
    1 -> 0 read_request
    0 -> 0 fetch_read
    0: protect write > read
    0 -> 1 read_reply +data
    1: permit none > read
    1: hold 1
    1: wake
  )"));
  (void)c.fault(2, access::read);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: read fault
    2 -> 0 read_request
  )")) << "the hold is over when node 1 says so, and not before";
  c.hold_over(1);
  EXPECT_EQ(c.take(), lines(R"(
    1: hold is over
    1 -> 0 done
  )"));
}

TEST(sequential_settled, hold_that_is_wished_for_after_the_request_has_left_waits_for_the_next_request) {
  chart c(2);
  c.before(0, access::write);
  (void)c.fault(1, access::read);
  EXPECT_EQ(c.fault(1, access::write, 0, 1), fault_outcome::joined);
  c.run();
  EXPECT_EQ(c.take().find("hold"), std::string::npos) << "the manager counts on nothing any more";
  (void)c.fault(1, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 write_request
    0 -> 0 invalidate
    0 -> 1 write_grant acks 1
    0: protect read > none
    0 -> 1 invalidate_ack
    1: permit read > write
    1: hold 1
    1: wake
  )"));
}

TEST(sequential_settled, next_order_follows_the_replies) {
  chart c(4);
  c.before(0, access::write);
  (void)c.fault(1, access::read);
  (void)c.fault(2, access::read);
  (void)c.fault(3, access::write);
  c.deliver(message_kind::read_request, 0);
  c.deliver(message_kind::read_request, 0);
  c.deliver(message_kind::write_request, 0);
  EXPECT_EQ(c.take(), lines(R"(
    1: read fault
    1 -> 0 read_request
    2: read fault
    2 -> 0 read_request
    3: write fault
    3 -> 0 write_request
    0: protect write > read
    0 -> 1 read_reply +data
    0 -> 2 read_reply +data
    0 -> 1 invalidate
    0 -> 2 invalidate
    0 -> 0 fetch_write acks 2
  )")) << "no reply has arrived yet, nothing is said to have";
  EXPECT_EQ(c.at(0).count().competing_requests, 0u);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: permit none > read
    1: wake
    2: permit none > read
    2: wake
    1: protect read > none
    1 -> 3 invalidate_ack
    2: protect read > none
    2 -> 3 invalidate_ack
    0: protect read > none
    0 -> 3 write_reply acks 2 +data
    3: permit none > write
    3 -> 0 done
    3: wake
  )"));
}

TEST(sequential_settled, order_to_pass_the_unit_on_follows_the_unit) {
  chart c(3);
  c.before(0, access::write);
  (void)c.fault(1, access::write);
  (void)c.fault(2, access::write);
  c.deliver(message_kind::write_request, 0);
  c.deliver(message_kind::write_request, 0);
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: permit none > write
    1: wake
    1: protect write > none
    1 -> 2 write_reply +data
    2: permit none > write
    2 -> 0 done
    2: wake
  )"));
}

TEST(sequential_settled, not_while_an_earlier_request_is_being_served) {
  chart c(4);
  c.before(1, access::write);
  c.before(0, access::read);
  (void)c.fault(2, access::write);
  c.deliver(message_kind::write_request, 0);
  (void)c.fault(3, access::read);
  c.deliver(message_kind::read_request, 0);
  EXPECT_EQ(c.at(0).right_of(0), access::read) << "its copy is as good as gone: the order is on its way";
  EXPECT_EQ(c.at(0).count().competing_requests, 1u);
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: protect read > none
    0 -> 2 invalidate_ack
    1: protect read > none
    1 -> 2 write_reply acks 1 +data
    2: permit none > write
    2 -> 0 done
    2: wake
    0 -> 2 fetch_read
    2: protect write > read
    2 -> 3 read_reply +data
    3: permit none > read
    3 -> 0 done
    3: wake
  )"));
}

TEST(sequential_settled, request_that_had_to_queue_is_served_with_a_done) {
  // Even if the manager could answer it alone when its turn comes.
  chart c(3);
  c.before(0, access::write);
  (void)c.fault(1, access::read, 0, 1);  // keeps the unit
  c.run();
  (void)c.fault(2, access::read);
  c.run();
  (void)c.take();
  c.hold_over(1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: hold is over
    1 -> 0 done
    0 -> 0 fetch_read
    0 -> 2 read_reply +data
    2: permit none > read
    2 -> 0 done
    2: wake
  )"));
}

TEST(sequential_settled, push_may_bring_the_copy_before_the_settled_reply_does) {
  // The owner's copy goes another way than the manager's reply: both have the same content.
  chart c(3);
  c.before(1, access::write);
  c.before(0, access::read);
  (void)c.fault(2, access::read);
  c.deliver(message_kind::read_request, 0);
  c.push(1);
  c.deliver(message_kind::push_request, 0);
  c.deliver(message_kind::fetch_push, 1);
  (void)c.take();
  c.deliver(message_kind::push_copy, 2);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: permit none > read
    2 -> 0 push_ack
    2: wake
    2: wake
    0 -> 0 push_ack
    0: wake
    0 -> 1 push_reply
    1: complete
  )"));
  EXPECT_EQ(c.at(2).right_of(0), access::read);
}

TEST(sequential_settled, coarse_copyset_counts_as_copies_elsewhere) {
  chart c(130);  // groups of four: nodes 1 to 3 may have what node 0 has
  c.before(0, access::write);
  (void)c.fault(64, access::read);
  c.run();
  EXPECT_EQ(c.hops(), 2u) << "the manager is the owner: a read needs nobody else";
  (void)c.take();
  (void)c.fault(64, access::write);
  c.run();
  EXPECT_NE(c.take().find("64 -> 0 done"), std::string::npos);
}

}  // namespace
}  // namespace quire::sequential::sequential_settled_test
