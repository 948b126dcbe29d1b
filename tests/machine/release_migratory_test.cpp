// SPDX-License-Identifier: BSD-3-Clause
// Units that nodes write in turn, as charts: the home goes to who asks for the content.
#include "release_chart.hpp"

namespace quire::release {
namespace {

chart handing(unsigned nodes, protocol::migratory how = protocol::migratory::always) {
  return chart(nodes, false, updates::learned, false, false, false, true, how);
}

/// Nodes 0 and 1 write the unit in turn, `rounds` times, and meet each time.
void in_turn(chart& c, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    const auto writer = static_cast<std::uint16_t>(1 - round % 2), other = static_cast<std::uint16_t>(1 - writer);
    c.before(writer, access::write);
    c.release(writer);
    c.run();
    (void)c.only_writer(other, writer);
    c.run();
  }
  (void)c.take();
}

TEST(release_migratory, the_home_goes_with_the_content_and_its_writer_needs_no_twin_and_tells_nobody) {
  chart c = handing(2);
  c.before(0, access::write);
  c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: read fault
    1 -> 0 copy_request
    0: protect write > none
    0 -> 1 home_move +data take
    1: permit none > read
    1: wake)"));
  EXPECT_EQ(c.fault(1, access::write), fault_outcome::local);
  c.release(1);
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1: permit read > write
    1: wake
    1: release)"));
  c.fault(0, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: write fault
    0 -> 1 copy_request
    1: protect write > none
    1 -> 0 home_move +data take
    0: permit none > write
    0: wake)"));
  EXPECT_EQ(c.at(1).count().migrated, 1u);
}

TEST(release_migratory, who_has_not_written_gives_copies) {
  chart c = handing(3);
  c.before(0, access::write);
  c.before(1, access::read);
  c.fault(2, access::read);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: read fault
    2 -> 0 copy_request
    0 -> 1 copy_request for 2
    1 -> 2 copy_reply +data
    2: permit none > read
    2: wake)"));
  EXPECT_EQ(c.at(1).count().migrated_unused, 1u);
}

/// Threads that use it at the same time do not take it from each other before they have used it.
TEST(release_migratory, who_asks_before_the_home_has_released_gets_a_copy) {
  chart c = handing(2);
  c.before(0, access::write);
  c.before(1, access::write);
  c.fault(0, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: write fault
    0 -> 1 copy_request
    1: protect write > read
    1 -> 0 copy_reply +data
    0: twin
    0: permit none > write
    0: wake)"));
  EXPECT_EQ(c.at(1).count().migrated_unused, 1u);
}

TEST(release_migratory, what_was_brought_and_not_touched_says_nothing) {
  chart c = handing(2);
  c.before(0, access::write);
  c.read_ahead(1, true);
  c.run();
  (void)c.take();
  c.fault(0, access::read);
  c.run();
  EXPECT_TRUE(c.at(0).is_home(0));
  EXPECT_EQ(c.at(1).count().migrated_unused, 0u);
}

/// A home that went to its only writer does not know of copies: its next write is told, and takes them all away.
TEST(release_migratory, copies_that_no_notice_takes_away_go_along) {
  chart c = handing(2, protocol::migratory::learned);
  c.before(0, access::write);
  in_turn(c, 2);
  c.before(1, access::read);
  ASSERT_TRUE(c.at(1).is_home(0));
  EXPECT_TRUE(c.unit(1).shared);
  c.before(1, access::write);
  EXPECT_TRUE(c.unit(1).listed);
  c.release(1);
  c.before(0, access::write);
  ASSERT_TRUE(c.at(0).is_home(0));
  EXPECT_FALSE(c.unit(0).shared) << "nobody has one any more";
  EXPECT_FALSE(c.unit(0).listed);
}

TEST(release_migratory, it_is_learned_by_writers_in_turn) {
  chart c = handing(2, protocol::migratory::learned);
  c.before(0, access::write);
  in_turn(c, 1);
  EXPECT_TRUE(c.unit(0).valid) << "the old home keeps a copy the first time";
  c.before(0, access::write);
  c.release(0);
  c.run();
  ASSERT_TRUE(c.only_writer(1, 0));
  c.run();
  EXPECT_FALSE(c.unit(1).valid) << "and not the second";
  c.before(1, access::read);
  EXPECT_TRUE(c.at(1).is_home(0));
  EXPECT_EQ(c.at(0).count().migrated, 1u);
}

/// The writer's copy lacks what the home wrote meanwhile.
TEST(release_migratory, a_home_that_cannot_go_by_itself_waits_once_before_it_asks) {
  chart c = handing(2, protocol::migratory::learned);
  c.before(0, access::write);
  for (const bool waits : {true, false}) {
    c.before(1, access::write);
    c.before(0, access::write);
    c.release(1);
    c.release(0);
    c.run();
    (void)c.take();
    (void)c.only_writer(0, 1);
    EXPECT_EQ(c.take() == lines("0: only 1 wrote"), waits);
    c.run();
    ASSERT_TRUE(c.at(0).is_home(0));
    c.notice(1);
  }
}

/// Units 0 and 1 are neighbours, and node 1 has written the former one after it got it.
TEST(release_migratory, the_first_unit_of_a_neighbourhood_is_looked_at_for_the_others) {
  chart c = handing(2, protocol::migratory::learned);
  for (const std::uint16_t first : {0, 1}) {
    const std::uint64_t unit = first;
    const auto second = static_cast<std::uint16_t>(1 - first);
    c.before(first, access::write, unit);
    for (const std::uint16_t writer : {second, first}) {
      c.before(writer, access::write, unit);
      c.release(writer);
      c.run();
      (void)c.only_writer(static_cast<std::uint16_t>(1 - writer), writer, unit);
      c.run();
      ASSERT_TRUE(c.at(writer).is_home(unit));
    }
    c.before(second, access::read, unit);
    ASSERT_TRUE(c.at(second).is_home(unit));
    EXPECT_EQ(c.at(second).mapped(unit), access::read) << "is looked at";
    c.before(second, access::write, unit);
    c.release(second);
  }
  c.before(1, access::read, 1);
  ASSERT_TRUE(c.at(1).is_home(1));
  EXPECT_EQ(c.at(1).mapped(1), access::write);
}

TEST(release_migratory, what_others_read_or_is_pushed_stays_where_it_is_read) {
  chart read = handing(3, protocol::migratory::learned), pushed = handing(2, protocol::migratory::learned);
  read.before(0, access::write);
  pushed.before(0, access::write);
  for (unsigned round = 0; round < 6; ++round) {
    const auto writer = static_cast<std::uint16_t>(1 - round % 2), other = static_cast<std::uint16_t>(1 - writer);
    for (chart* const c : {&read, &pushed}) {
      c->before(writer, access::write);
      c->release(writer);
      c->run();
      if (c == &read) {
        c->notice(2);
        c->before(2, access::read);
      } else {
        c->push(writer);
        c->deliver(message_kind::spread_request, writer, other);
        c->lose();  // the content goes another way than the chart's messages
      }
      (void)c->only_writer(other, writer);
      c->run();
      ASSERT_TRUE(c->at(writer).is_home(0));
      EXPECT_TRUE(c->unit(other).valid) << (c == &read ? "read, round " : "pushed, round ") << round;
    }
  }
}

TEST(release_migratory, wrong_guesses_are_forgotten_less_and_less_quickly) {
  chart c = handing(2, protocol::migratory::learned);
  c.before(0, access::write);
  unsigned needed[3] = {};
  for (unsigned& count : needed) {
    // Until the home goes along with what is read.
    while (true) {
      const auto home = static_cast<std::uint16_t>(c.at(0).is_home(0) ? 0 : 1),
                 other = static_cast<std::uint16_t>(1 - home);
      c.before(other, access::read);
      if (c.at(other).is_home(0)) break;
      ASSERT_LT(++count, 200u);
      c.before(other, access::write);
      c.release(other);
      c.run();
      ASSERT_TRUE(c.only_writer(home, other));
      c.run();
    }
    // And nobody writes it: its content is asked for again.
    const auto home = static_cast<std::uint16_t>(c.at(0).is_home(0) ? 0 : 1),
               other = static_cast<std::uint16_t>(1 - home);
    c.before(other, access::read);
    ASSERT_TRUE(c.at(home).is_home(0));
    (void)c.take();
  }
  EXPECT_EQ(needed[0], 2u);
  EXPECT_EQ(needed[1], 4u);
  EXPECT_EQ(needed[2], 8u);
}

TEST(release_migratory, none_goes_where_that_is_switched_off_or_writes_are_found_by_scans) {
  chart off = handing(2, protocol::migratory::never);
  in_turn(off, 8);
  EXPECT_EQ(off.at(0).count().migrated + off.at(1).count().migrated, 0u);
  chart scans(2, false, updates::learned, true, false, false, true, protocol::migratory::always);
  scans.before(0, access::write);
  scans.before(1, access::read);
  EXPECT_TRUE(scans.at(0).is_home(0));
}

/// What it has written may not be in its homes yet: whoever hears of it by this content would look there.
TEST(release_migratory, none_goes_while_a_diff_of_its_node_is_on_its_way) {
  chart c = handing(3);
  c.before(1, access::write);
  c.open(1).unacknowledged[2] = 1;
  c.before(0, access::read);
  EXPECT_TRUE(c.at(1).is_home(0));
}

}  // namespace
}  // namespace quire::release
