// SPDX-License-Identifier: BSD-3-Clause
// Updates of the release protocol, as charts: a home sends what it wrote to those who will read it.
#include "release_chart.hpp"

namespace quire::release::release_update_test {
namespace {

/// Node 0 writes its unit, the interval ends and is told.
void write(chart& c, std::uint32_t interval) {
  c.fault(0, access::write);
  c.release(0);
  c.told(0, interval);
}
/// Unit 0 of node 0, which node 1 has read.
chart read_once(unsigned nodes = 2, updates update = updates::always) {
  chart c(nodes, false, update);
  c.before(0, access::write);
  c.before(1, access::read);
  return c;
}

TEST(release_update, who_has_read_the_unit_gets_what_the_home_writes_and_keeps_its_copy) {
  chart c = read_once();
  write(c, 1);
  EXPECT_EQ(c.take(), lines(R"(
    0: write fault
    0: permit read > write
    0: wake
    0: release
    0: tells
    0: protect write > read
    0 -> 1 update +data)"));
  c.run();
  c.notice_of(1, 0, 1);
  EXPECT_EQ(c.take(), lines(R"(
    1: takes the update
    1: protect read > none
    1: notice)"))
      << "the copy has what the notice is about";
  EXPECT_EQ(c.fault(1, access::read), fault_outcome::local)
      << "the first of a row is not mapped, to see whether it is used";
  write(c, 2);
  (void)c.take();
  c.run();
  c.notice_of(1, 0, 2);
  EXPECT_EQ(c.take(), lines(R"(
    1: takes the update
    1: notice)"));
  EXPECT_EQ(c.unit(1).mapped(), access::read);
  c.notice_of(1, 0, 3);
  EXPECT_EQ(c.take(), lines(R"(
    1: notice
    1: protect read > none)"));
}

TEST(release_update, who_does_not_use_the_first_gets_no_more) {
  chart c = read_once();
  write(c, 1);
  c.run();
  c.notice_of(1, 0, 1);
  write(c, 2);
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: drops the update
    1 -> 0 update_unused)"));
  write(c, 3);
  EXPECT_EQ(c.in_flight(), 0u);
  c.notice_of(1, 0, 2);
  c.before(1, access::read);
  write(c, 4);
  EXPECT_EQ(c.in_flight(), 1u) << "until it reads again";
}

TEST(release_update, writes_after_an_update_are_noticed) {
  chart c = read_once();
  write(c, 1);
  c.run();
  (void)c.take();
  c.fault(0, access::write);
  EXPECT_EQ(c.take(), lines(R"(
    0: write fault
    0: permit read > write
    0: wake)"));
  EXPECT_EQ(c.open(0).written.size(), 1u);
}

TEST(release_update, what_is_written_already_for_the_next_interval_stays_writable) {
  chart c = read_once();
  c.fault(0, access::write);
  c.release(0);
  c.before(1, access::read, 1);  // the unit of its own; nothing to do with it
  c.notice(1);
  c.before(1, access::read);  // takes the right to write unnoticed
  c.fault(0, access::write);  // a thread of the home is faster than the acknowledgements that the notice waits for
  (void)c.take();
  c.told(0, 1);
  EXPECT_EQ(c.take(), lines(R"(
    0: tells
    0 -> 1 update +data)"));
  EXPECT_EQ(c.open(0).written.size(), 1u) << "the next notice takes it all in";
}

TEST(release_update, an_update_that_comes_after_its_notice_is_dropped) {
  chart c = read_once();
  write(c, 1);
  c.notice_of(1, 0, 1);
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), "1: drops the update\n");
  EXPECT_FALSE(c.at(1).has_content(0));
}

TEST(release_update, a_copy_that_is_written_here_takes_none) {
  chart c = read_once();
  c.before(1, access::write);
  write(c, 1);
  c.run();
  (void)c.take();
  c.notice_of(1, 0, 1);
  EXPECT_EQ(c.take(), lines(R"(
    1: notice
    1: protect write > none
    1 -> 0 diff)"));
}

/// The update may have left before the diff was in the home's content: it would take back what this node wrote.
TEST(release_update, nor_does_one_that_was_written_here_since_it_came) {
  chart c = read_once();
  c.before(1, access::write);
  c.release(1);
  write(c, 1);
  (void)c.take();
  c.deliver(message_kind::update, 0, 1);
  EXPECT_EQ(c.take(), "1: drops the update\n");
  c.run();
  (void)c.take();
  c.notice_of(1, 0, 1);
  EXPECT_EQ(c.take(), lines(R"(
    1: notice
    1: protect read > none)"));
}

TEST(release_update, a_copy_does_not_follow_a_node_that_is_home_no_more) {
  chart c(3, false, updates::always);
  c.before(0, access::write);
  c.before(1, access::read);
  c.before(2, access::read);
  c.fault(0, access::write);
  c.release(0);
  c.told(0, 1);  // to 1 and 2
  c.deliver(message_kind::update, 0, 2);
  c.notice_of(2, 0, 1);
  c.before(2, access::write);
  c.release(2);
  c.deliver(message_kind::diffs, 2, 0);
  c.run();
  c.notice_of(1, 2, 1);  // what 2 wrote: the update of 0 does not have it
  (void)c.take();
  c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.unit(1).source, node_id{0});
  EXPECT_EQ(c.unit(1).version, 1u);
  (void)c.take();
  c.notice_of(1, 2, 2);
  EXPECT_EQ(c.take(), lines(R"(
    1: notice
    1: protect read > none)"))
      << "another writer: its copy goes";
}

TEST(release_update, who_will_read_is_learned) {
  chart c = read_once(2, updates::learned);
  write(c, 1);
  EXPECT_EQ(c.in_flight(), 0u) << "it has been read once";
  c.notice_of(1, 0, 1);
  c.before(1, access::read);
  write(c, 2);
  EXPECT_EQ(c.in_flight(), 1u) << "and again";
  EXPECT_EQ(c.at(0).count().updates_sent, 1u);
}

/// How many updates leave in `times` intervals of the home, if the reader asks whenever its copy has gone, or not any
/// more.
std::uint64_t updates_in(unsigned times, bool reads) {
  chart c = read_once(2, updates::learned);
  for (std::uint32_t i = 1; i <= times; ++i) {
    write(c, i);
    c.run();
    c.notice_of(1, 0, i);
    if (reads || i <= 2) c.before(1, access::read);
  }
  return c.at(0).count().updates_sent;
}

TEST(release_update, who_reads_on_asks_rarely) { EXPECT_GT(updates_in(1'000, true), 950u); }

TEST(release_update, who_reads_no_more_is_sent_no_more) { EXPECT_LE(updates_in(1'000, false), 4u); }

/// By a broadcast, which goes another way than the home's own messages: it may be newer than an update that comes after
/// it.
TEST(release_update, a_copy_that_came_otherwise_takes_none) {
  chart c = read_once();
  write(c, 1);
  c.notice_of(1, 0, 1);
  ASSERT_TRUE(c.spread(1));
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), "1: drops the update\n");
}

// ---- Partners: a unit that its home and another node write

/// Unit 0 of node 0, which node 1 has written, and fetched again after that to write it once more.
chart written_by_both(unsigned nodes = 2, updates update = updates::learned) {
  chart c(nodes, false, update);
  c.before(0, access::write);
  c.before(1, access::write);
  c.release(1);
  c.run();
  write(c, 1);
  c.run();
  c.notice_of(1, 0, 1);
  c.before(1, access::write);
  return c;
}

TEST(release_update, a_partner_whose_diff_is_in_gets_the_content_of_both_when_the_homes_writes_are_told) {
  chart c = written_by_both();
  c.release(1);
  c.run();
  (void)c.take();
  write(c, 2);
  EXPECT_EQ(c.take(), lines(R"(
    0: write fault
    0: permit read > write
    0: wake
    0: release
    0: tells
    0: protect write > read
    0 -> 1 update +data)"));
  c.run();
  c.notice_of(1, 0, 2);
  EXPECT_EQ(c.take(), lines(R"(
    1: takes the update
    1: notice)"));
  EXPECT_EQ(c.unit(1).mapped(), access::read);
}

TEST(release_update, or_when_its_diff_comes_if_that_is_later) {
  chart c = written_by_both();
  write(c, 2);
  EXPECT_EQ(c.in_flight(), 0u) << "it would have to be dropped";
  c.release(1);
  (void)c.take();
  c.run();
  c.notice_of(1, 0, 2);
  EXPECT_EQ(c.take(), lines(R"(
    0: applies diff of 1
    0 -> 1 ack
    0: protect write > read
    0 -> 1 update +data
    1: takes the update
    1: notice)"));
  EXPECT_EQ(c.unit(1).mapped(), access::read);
  // And so on, without a request.
  for (std::uint32_t interval = 3; interval < 10; ++interval) {
    EXPECT_EQ(c.fault(1, access::write), fault_outcome::local);
    write(c, interval);
    c.release(1);
    c.run();
    c.notice_of(1, 0, interval);
  }
  EXPECT_EQ(c.at(1).count().updates_applied, 8u);
  EXPECT_EQ(c.at(0).count().updates_sent, 8u);
}

TEST(release_update, a_partner_takes_none_while_a_diff_of_its_own_is_on_its_way) {
  chart c = written_by_both();
  c.release(1);
  c.run();
  c.before(1, access::write);
  c.release(1);
  write(c, 2);
  (void)c.take();
  c.deliver(message_kind::update, 0, 1);
  EXPECT_EQ(c.take(), "1: drops the update\n");
}

TEST(release_update, a_partner_that_writes_again_takes_none) {
  chart c = written_by_both();
  c.release(1);
  c.run();
  c.before(1, access::write);
  write(c, 2);
  (void)c.take();
  c.run();
  EXPECT_EQ(c.take(), "1: drops the update\n");
}

TEST(release_update, a_third_writer_ends_it) {
  chart c = written_by_both(3);
  c.before(2, access::write);
  c.release(2);
  c.release(1);
  c.run();
  write(c, 2);
  EXPECT_EQ(c.in_flight(), 0u);
}

TEST(release_update, who_wrote_once_and_never_came_back_is_no_partner) {
  chart c(2, false, updates::learned);
  c.before(0, access::write);
  c.before(1, access::write);
  for (std::uint32_t interval = 1; interval < 4; ++interval) {
    c.release(1);
    c.run();
    write(c, interval);
    EXPECT_EQ(c.in_flight(), 0u);
  }
}

TEST(release_update, a_home_that_moves_has_no_partner_any_more) {
  chart c = written_by_both();
  c.release(1);
  c.run();
  ASSERT_TRUE(c.only_writer(0, 1));
  c.run();
  EXPECT_EQ(c.unit(0).partnered, 0);
  EXPECT_TRUE(c.at(1).is_home(0));
}

TEST(release_update, there_are_none_if_they_are_not_wanted) {
  chart c = read_once(2, updates::never);
  for (std::uint32_t i = 1; i < 10; ++i) {
    write(c, i);
    c.notice_of(1, 0, i);
    c.before(1, access::read);
  }
  EXPECT_EQ(c.at(0).count().updates_sent, 0u);
}

}  // namespace
}  // namespace quire::release::release_update_test
