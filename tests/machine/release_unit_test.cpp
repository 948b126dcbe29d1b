// SPDX-License-Identifier: BSD-3-Clause
// The release protocol's machine of a unit, as charts: src/protocol/release/README.md has the table of transitions.
#include "release_chart.hpp"

namespace quire::release::release_unit_test {
namespace {

TEST(release_unit, a_read_miss_takes_one_round_trip_to_the_home) {
  chart c(2);
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::started);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: read fault
    1 -> 0 copy_request
    0 -> 1 copy_reply zero
    1: permit none > read
    1: wake)"));
}

TEST(release_unit, a_write_miss_makes_a_twin_and_a_release_sends_the_difference) {
  chart c(2);
  c.before(0, access::write);
  c.fault(1, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 copy_request
    0: protect write > read
    0 -> 1 copy_reply +data
    1: twin
    1: permit none > write
    1: wake)"));
  c.release(1);
  EXPECT_EQ(c.unacknowledged(1), 1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: release
    1: protect write > read
    1 -> 0 diff
    0: applies diff of 1
    0 -> 1 ack)"));
  EXPECT_EQ(c.unacknowledged(1), 0);
}

TEST(release_unit, a_copy_that_is_valid_is_written_without_a_message) {
  chart c(2);
  c.before(1, access::read);
  EXPECT_EQ(c.fault(1, access::write), fault_outcome::local);
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1: twin
    1: permit read > write
    1: wake)"));
}

TEST(release_unit, the_home_needs_no_twin_and_no_fault_while_nobody_has_a_copy) {
  chart c(2);
  EXPECT_EQ(c.fault(0, access::read), fault_outcome::local);
  EXPECT_EQ(c.take(), lines(R"(
    0: read fault
    0: permit none > write
    0: wake)"));
  EXPECT_TRUE(c.open(0).written.empty()) << "nobody has to hear of it";
  c.before(1, access::read);  // takes the right away
  c.fault(0, access::write);
  EXPECT_EQ(c.take(), lines(R"(
    0: write fault
    0: permit read > write
    0: wake)"));
  EXPECT_EQ(c.open(0).written.size(), 1u);
  c.release(0);
  EXPECT_EQ(c.take(), "0: release\n") << "its notice takes all copies away, it may go on writing";
}

TEST(release_unit, a_notice_takes_the_copy_and_what_was_changed_in_it_goes_home_first) {
  chart c(3);
  c.before(1, access::write);
  c.notice(1);
  EXPECT_EQ(c.take(), lines(R"(
    1: notice
    1: protect write > none
    1 -> 0 diff)"));
  EXPECT_EQ(c.open(1).written.size(), 1u) << "the release has to tell of it all the same";
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::started);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: read fault
    1 -> 0 copy_request
    0: applies diff of 1
    0 -> 1 ack
    0 -> 1 copy_reply +data
    1: permit none > read
    1: wake)"));
}

TEST(release_unit, content_that_is_on_its_way_when_a_notice_comes_is_asked_for_again) {
  chart c(2);
  c.before(0, access::write);
  c.fault(1, access::read);
  c.step();
  c.notice(1);
  EXPECT_EQ(c.fault(1, access::write), fault_outcome::joined);
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1 -> 0 copy_request
    0 -> 1 copy_reply +data
    1: twin
    1: permit none > write
    1: wake)"));
  EXPECT_EQ(c.at(1).count().stale_replies, 1u);
}

/// A soak found it (task_graph_program, one unit of 2 MiB, 8 nodes): a thread waited for minutes, as each message of
/// the home told of a write that the content behind it had.
TEST(release_unit, content_is_as_new_as_all_that_its_sender_has_told_before_it) {
  chart c(3);
  c.before(0, access::write);
  c.fault(1, access::read);
  c.notice_by(1, 0);
  c.notice_by(1, 0, 2);
  c.run();
  EXPECT_EQ(c.at(1).count().stale_replies, 0u);
  EXPECT_EQ(c.unit(1).mapped(), access::read);
}

TEST(release_unit, content_is_stale_if_others_told_of_a_write_too) {
  for (const bool last : {false, true}) {
    chart c(3);
    c.before(0, access::write);
    c.fault(1, access::read);
    c.notice_by(1, last ? 0 : 2);
    c.notice_by(1, last ? 2 : 0);
    c.notice_by(1, 0);
    c.run();
    EXPECT_EQ(c.at(1).count().stale_replies, 1u);
    EXPECT_EQ(c.unit(1).mapped(), access::read);
  }
}

TEST(release_unit, content_of_another_home_than_has_told_is_stale) {
  chart c(3);
  c.before(1, access::read);
  c.fault(2, access::read);
  c.notice_by(2, 0);
  EXPECT_TRUE(c.only_writer(0, 1));
  c.run();
  EXPECT_EQ(c.at(2).count().stale_replies, 1u);
  EXPECT_EQ(c.unit(2).source, node_id{1});
}

TEST(release_unit, twins_that_are_short_go_home_before_the_release) {
  chart c(2);
  c.before(1, access::write);
  c.twins_short(1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: twins are short
    1: protect write > read
    1 -> 0 diff
    0: applies diff of 1
    0 -> 1 ack)"));
  EXPECT_EQ(c.open(1).twins, 0u);
  c.twins_short(1);
  c.release(1);
  EXPECT_EQ(c.take(), lines(R"(
    1: twins are short
    1: release)"));
}

TEST(release_unit, read_ahead_that_is_withheld_is_mapped_by_the_first_touch_and_not_repeated_if_it_was_of_no_use) {
  chart c(2);
  c.before(0, access::write);
  EXPECT_TRUE(c.read_ahead(1, true));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1 -> 0 copy_request
    0: protect write > read
    0 -> 1 copy_reply +data
    1: wake)"));
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::local);
  (void)c.take();
  EXPECT_FALSE(c.read_ahead(1, true));
  c.notice(1);
  EXPECT_TRUE(c.read_ahead(1, true));
  c.run();
  c.notice(1);
  EXPECT_FALSE(c.read_ahead(1, true)) << "it was taken away untouched";
}

TEST(release_unit, what_will_be_written_is_made_ready_by_a_hint) {
  chart c(2);
  c.before(0, access::write);
  EXPECT_TRUE(c.hint(1, access::write));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1 -> 0 copy_request
    0: protect write > read
    0 -> 1 copy_reply +data
    1: twin
    1: permit none > write
    1: wake)"));
  EXPECT_FALSE(c.hint(1, access::write));
  EXPECT_TRUE(c.hint(0, access::write)) << "the home's next write would be a fault too, as somebody has a copy";
  EXPECT_EQ(c.take(), lines(R"(
    0: permit read > write)"));
}

// ---- atomic operations

TEST(release_unit, an_atomic_operation_is_done_at_the_home_and_is_news_if_somebody_has_a_copy) {
  chart c(3);
  c.add(1, 5);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: add
    1 -> 0 home_atomic
    0: operate
    0 -> 1 home_atomic_reply
    1: complete)"));
  EXPECT_TRUE(c.open(0).written.empty());
  c.before(2, access::read);
  c.add(1, 5);
  c.run();
  (void)c.take();
  EXPECT_EQ(c.open(0).written.size(), 1u);
  EXPECT_FALSE(c.only_writer(0, 2)) << "its copy is older now";
  c.add(0, 1);
  EXPECT_NE(c.take().find("0: operate here"), std::string::npos);
}

/// The simulator found it (seed 12 of 2 nodes): content that a thread waits for was called stale by every atomic
/// operation that another thread of the node did in order to wait for that thread.
TEST(release_unit, waiting_by_atomic_operations_takes_no_copies_away) {
  chart c(2);
  c.before(0, access::write);
  c.fault(1, access::read);
  c.add(1, 0);
  c.deliver(message_kind::copy_request, 1, 0);
  c.deliver(message_kind::home_atomic, 1, 0);
  c.deliver(message_kind::copy_reply, 0, 1);
  c.add(1, 0);
  c.run();
  EXPECT_EQ(c.at(1).count().stale_replies, 0u);
  EXPECT_EQ(c.unit(1).mapped(), access::read);
  EXPECT_TRUE(c.open(0).written.empty());
  EXPECT_TRUE(c.open(1).written.empty());
}

TEST(release_unit, atomic_operations_follow_the_home) {
  chart c(3);
  c.before(1, access::read);
  EXPECT_TRUE(c.only_writer(0, 1));
  c.run();
  (void)c.take();
  c.add(2, 1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: add
    2 -> 0 home_atomic
    0 -> 1 home_atomic for 2
    1: operate
    1 -> 2 home_atomic_reply
    2: complete)"));
}

}  // namespace
}  // namespace quire::release::release_unit_test
