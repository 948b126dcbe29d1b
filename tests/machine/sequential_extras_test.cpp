// SPDX-License-Identifier: BSD-3-Clause
// What goes beyond the papers' base protocol: atomic operations where the data is, push (Millipage, section 4.3),
// read-ahead that is not mapped until it is touched, and copysets that name groups of nodes.
#include "sequential_chart.hpp"

namespace quire::sequential::sequential_extras_test {
namespace {

TEST(sequential_atomic, is_done_by_the_owner_and_moves_no_content) {
  chart c(3);
  c.before(1, access::write);
  c.add(2, 5);
  c.run();
  EXPECT_EQ(c.payloads(), 0u);
  EXPECT_EQ(c.take(), lines(R"(
    2: add
    2 -> 0 atomic_request
    0 -> 1 atomic_fetch
    1: operate
    1 -> 2 atomic_reply
    2 -> 0 done
    2: complete
  )"));
  EXPECT_EQ(c.at(1).right_of(0), access::write);
}

TEST(sequential_atomic, writer_needs_no_message) {
  chart c(2);
  c.add(0, 5);
  EXPECT_EQ(c.take(), lines(R"(
    0: add
    0: operate here
  )"));
  (void)c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.payloads(), 1u) << "it counts as written";
}

TEST(sequential_atomic, copies_go_first_and_acknowledge_to_the_manager) {
  chart c(4);
  c.before(1, access::write);
  c.before(2, access::read);
  c.before(3, access::read);
  c.add(3, 5);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    3: add
    3 -> 0 atomic_request
    0 -> 2 invalidate
    0 -> 3 invalidate
    2: protect read > none
    2 -> 0 invalidate_ack
    3: protect read > none
    3 -> 0 invalidate_ack
    0 -> 1 atomic_fetch
    1: operate
    1 -> 3 atomic_reply
    3 -> 0 done
    3: complete
  )"));
}

TEST(sequential_push, everybody_gets_a_copy_and_the_caller_is_told_when_all_have_it) {
  chart c(3);
  c.before(1, access::write);
  c.push(1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: push
    1 -> 0 push_request
    0 -> 1 fetch_push
    1: protect write > read
    1 -> 2 push_copy +data
    1 -> 0 push_copy +data
    2: permit none > read
    2 -> 0 push_ack
    2: wake
    0: permit none > read
    0 -> 0 push_ack
    0: wake
    0 -> 1 push_reply
    1: complete
  )"));
  EXPECT_EQ(c.fault(2, access::read), fault_outcome::local);
}

TEST(sequential_push, copies_travel_by_a_tree_of_the_owner) {
  chart c(7);
  c.before(2, access::write);
  c.push(2);
  c.run();
  EXPECT_EQ(c.payloads(), 6u);
  const std::string all = c.take();
  for (const char* const way : {"2 -> 3 push_copy +data", "2 -> 4 push_copy +data", "2 -> 5 push_copy +data",
                                "2 -> 6 push_copy +data", "3 -> 0 push_copy +data", "3 -> 1 push_copy +data"}) {
    EXPECT_NE(all.find(way), std::string::npos) << way << all;
  }
  for (std::uint16_t n = 0; n < 7; ++n) EXPECT_EQ(c.at(n).right_of(0), access::read);
}

TEST(sequential_produce, a_write_of_the_phase_is_noticed_by_a_local_fault) {
  chart c(2);
  c.before(0, access::write);
  model::actions out;
  c.at(0).pushes().on_produce_begin(0, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].kind, model::action_kind::protect);
  EXPECT_EQ(out[0].level, access::read);
  EXPECT_EQ(c.at(0).right_of(0), access::write);
  EXPECT_EQ(c.fault(0, access::write), fault_outcome::local);
  EXPECT_TRUE(c.at(0).pushes().on_produce_end(0));
  EXPECT_EQ(c.at(0).unit(0).mapped(), access::write);
}

TEST(sequential_produce, what_is_only_read_or_lost_again_is_not_produced) {
  chart c(2);
  c.before(0, access::write);
  model::actions out;
  c.at(0).pushes().on_produce_begin(0, out);
  EXPECT_FALSE(c.at(0).pushes().on_produce_end(0)) << "not written";
  c.at(0).pushes().on_produce_begin(0, out);
  (void)c.fault(0, access::write);
  (void)c.fault(1, access::write);
  c.run();
  EXPECT_FALSE(c.at(0).pushes().on_produce_end(0)) << "another node has written it since";
}

TEST(sequential_push, read_request_that_meets_a_push_gets_no_data) {
  chart c(3);
  c.before(1, access::write);
  c.push(1);
  c.deliver(message_kind::push_request, 0);
  (void)c.fault(2, access::read);
  c.deliver(message_kind::read_request, 0);
  c.deliver(message_kind::fetch_push, 1);
  c.deliver(message_kind::push_copy, 2);
  EXPECT_EQ(c.at(2).unit(0).mapped(), access::read) << "the thread need not wait for its own request";
  c.run();
  EXPECT_NE(c.take().find("0 -> 2 read_reply no_data"), std::string::npos);
}

TEST(sequential_push, one_node_alone_is_told_at_once) {
  chart c(1);
  c.push(0);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: push
    0 -> 0 push_request
    0 -> 0 push_reply
    0: complete
  )"));
}

TEST(sequential_push, unit_that_was_never_written_is_pushed_without_content) {
  chart c(3);
  c.push(2);
  c.run();
  EXPECT_EQ(c.payloads(), 0u);
  EXPECT_EQ(c.at(1).right_of(0), access::read);
}

TEST(sequential_read_ahead, withheld_unit_is_mapped_when_it_is_touched) {
  chart c(2);
  c.before(0, access::write);
  EXPECT_TRUE(c.read_ahead(1, access::read, true));
  EXPECT_FALSE(c.read_ahead(1, access::read, true)) << "asked already";
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1 -> 0 read_request
    0: protect write > read
    0 -> 1 read_reply +data
    1: wake
  )"));
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::local);
  EXPECT_EQ(c.take(), lines(R"(
    1: read fault
    1: permit none > read
    1: wake
  )"));
}

TEST(sequential_read_ahead, unit_that_a_thread_waits_for_is_not_withheld) {
  chart c(2);
  c.before(0, access::write);
  (void)c.read_ahead(1, access::read, true);
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::joined);
  (void)c.take();
  c.run();
  EXPECT_NE(c.take().find("1: permit none > read"), std::string::npos);
}

TEST(sequential_read_ahead, what_was_taken_away_untouched_is_not_read_ahead_again) {
  chart c(2);
  c.before(0, access::write);
  (void)c.read_ahead(1, access::read, true);
  c.run();
  c.before(0, access::write);
  EXPECT_EQ(c.at(1).count().read_ahead_wasted, 1u);
  EXPECT_FALSE(c.read_ahead(1, access::read, true));
  c.before(1, access::read);
  c.before(0, access::write);
  EXPECT_TRUE(c.read_ahead(1, access::read, true)) << "it has been touched since";
}

// A unit lost while withheld was withheld again from the very thread that then asked for it: one more fault, for
// nothing.
TEST(sequential_read_ahead, fault_on_a_unit_that_was_lost_while_withheld_gets_it_mapped) {
  chart c(2);
  c.before(0, access::write);
  (void)c.read_ahead(1, access::read, true);
  c.run();
  c.before(0, access::write);
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::started);
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: protect write > read
    0 -> 1 read_reply +data
    1: permit none > read
    1: wake
  )"));
}

TEST(sequential_coarse, a_bit_of_the_copyset_is_a_group_above_64_nodes) {
  chart c(130);  // groups of four
  c.before(129, access::write);
  c.before(8, access::read);
  (void)c.fault(64, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    64: write fault
    64 -> 0 write_request
    0 -> 8 invalidate
    0 -> 9 invalidate
    0 -> 10 invalidate
    0 -> 11 invalidate
    0 -> 128 invalidate
    0 -> 129 fetch_write acks 5
    8: protect read > none
    8 -> 64 invalidate_ack
    9 -> 64 invalidate_ack
    10 -> 64 invalidate_ack
    11 -> 64 invalidate_ack
    128 -> 64 invalidate_ack
    129: protect read > none
    129 -> 64 write_reply acks 5 +data
    64: permit none > write
    64 -> 0 done
    64: wake
  )")) << "nodes without a copy acknowledge too";
}

TEST(sequential_coarse, reader_that_upgrades_gets_the_content_again_unless_it_is_the_owner) {
  chart c(130);
  c.before(129, access::write);
  c.before(8, access::read);
  (void)c.fault(8, access::write);
  c.run();
  EXPECT_NE(c.take().find("129 -> 8 write_reply acks 4 +data"), std::string::npos);
  c.before(64, access::read);
  (void)c.fault(8, access::write);
  c.run();
  EXPECT_EQ(c.payloads(), 0u);
  EXPECT_NE(c.take().find("0 -> 8 write_grant"), std::string::npos);
}

TEST(sequential_coarse, sixty_four_nodes_are_exact) {
  chart c(64);
  c.before(63, access::write);
  c.before(8, access::read);
  (void)c.fault(62, access::write);
  c.run();
  const std::string text = c.take();
  EXPECT_NE(text.find("0 -> 8 invalidate\n"), std::string::npos);
  EXPECT_EQ(text.find("0 -> 9 invalidate\n"), std::string::npos);
}

}  // namespace
}  // namespace quire::sequential::sequential_extras_test
