// SPDX-License-Identifier: BSD-3-Clause
// What the papers say about misses and upgrades, as charts: Millipage, Figure 3 and section 3.3; KOAN, section 4.3.2.
#include "sequential_chart.hpp"

namespace quire::sequential::sequential_miss_test {
namespace {

TEST(sequential_miss, read_of_a_unit_that_its_manager_owns_takes_two_hops) {
  chart c(3);
  c.before(0, access::write);
  EXPECT_EQ(c.fault(2, access::read), fault_outcome::started);
  c.run();
  EXPECT_EQ(c.hops(), 2u) << "request and reply";
  EXPECT_EQ(c.take(), lines(R"(
    2: read fault
    2 -> 0 read_request
    0: protect write > read
    0 -> 2 read_reply +data
    2: permit none > read
    2: wake
  )"));
}

TEST(sequential_miss, read_of_a_unit_with_another_owner_takes_three_hops) {
  chart c(3);
  c.before(1, access::write);
  (void)c.fault(2, access::read);
  c.run();
  EXPECT_EQ(c.hops(), 3u + 1u) << "request, order, reply, and the done that nobody waits for";
  EXPECT_EQ(c.take(), lines(R"(
    2: read fault
    2 -> 0 read_request
    0 -> 1 fetch_read
    1: protect write > read
    1 -> 2 read_reply +data
    2: permit none > read
    2 -> 0 done
    2: wake
  )"));
}

TEST(sequential_miss, manager_that_has_a_copy_answers_for_the_owner) {
  chart c(3);
  c.before(1, access::write);
  c.before(0, access::read);
  (void)c.fault(2, access::read);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: read fault
    2 -> 0 read_request
    0 -> 2 read_reply +data
    2: permit none > read
    2: wake
  )"));
}

TEST(sequential_miss, write_takes_the_owners_copy_and_its_rights) {
  chart c(3);
  c.before(1, access::write);
  (void)c.fault(2, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: write fault
    2 -> 0 write_request
    0 -> 1 fetch_write
    1: protect write > none
    1 -> 2 write_reply +data
    2: permit none > write
    2 -> 0 done
    2: wake
  )"));
}

TEST(sequential_miss, write_invalidates_all_readers_at_the_same_time) {
  chart c(5);
  c.before(1, access::write);
  for (const std::uint16_t reader : {2, 3}) c.before(reader, access::read);
  (void)c.fault(4, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    4: write fault
    4 -> 0 write_request
    0 -> 2 invalidate
    0 -> 3 invalidate
    0 -> 1 fetch_write acks 2
    2: protect read > none
    2 -> 4 invalidate_ack
    3: protect read > none
    3 -> 4 invalidate_ack
    1: protect read > none
    1 -> 4 write_reply acks 2 +data
    4: permit none > write
    4 -> 0 done
    4: wake
  )"));
  EXPECT_EQ(c.at(2).count().invalidations, 1u);
}

TEST(sequential_miss, upgrade_gets_no_data) {
  chart c(4);
  c.before(1, access::write);
  c.before(2, access::read);
  c.before(3, access::read);
  (void)c.fault(2, access::write);
  c.run();
  EXPECT_EQ(c.payloads(), 0u);
  EXPECT_EQ(c.take(), lines(R"(
    2: write fault
    2 -> 0 write_request
    0 -> 1 invalidate
    0 -> 3 invalidate
    0 -> 2 write_grant acks 2
    1: protect read > none
    1 -> 2 invalidate_ack
    3: protect read > none
    3 -> 2 invalidate_ack
    2: permit read > write
    2 -> 0 done
    2: wake
  )"));
  EXPECT_EQ(c.at(2).count().upgrade_faults, 1u);
}

TEST(sequential_miss, writer_waits_for_every_acknowledgement_in_whatever_order_they_come) {
  chart c(4);
  c.before(2, access::read);
  c.before(3, access::read);
  (void)c.fault(2, access::write);
  c.deliver(message_kind::write_request, 0);
  c.deliver(message_kind::invalidate, 3);
  c.deliver(message_kind::invalidate_ack, 2);  // before the grant, which tells how many to expect
  c.deliver(message_kind::write_grant, 2);
  EXPECT_EQ(c.at(2).right_of(0), access::read) << "node 0 may still read";
  c.deliver(message_kind::invalidate, 0);
  (void)c.take();
  c.deliver(message_kind::invalidate_ack, 2);
  EXPECT_EQ(c.take(), lines(R"(
    2: permit read > write
    2 -> 0 done
    2: wake
  )"));
}

TEST(sequential_miss, unit_that_was_never_written_travels_without_content) {
  chart c(3);
  (void)c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.payloads(), 0u);
  EXPECT_EQ(c.take(), lines(R"(
    1: read fault
    1 -> 0 read_request
    0 -> 1 read_reply zero
    1: permit none > read
    1: wake
  )"));
  (void)c.fault(2, access::write);
  c.run();
  EXPECT_EQ(c.payloads(), 0u) << "nobody could write before";
  (void)c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.payloads(), 1u) << "node 2 could";
}

TEST(sequential_miss, home_asks_nobody_and_faults_once_for_reading_and_writing) {
  chart c(2);
  EXPECT_EQ(c.fault(0, access::read), fault_outcome::local);
  EXPECT_EQ(c.take(), lines(R"(
    0: read fault
    0: permit none > write
    0: wake
  )"));
}

TEST(sequential_miss, owner_that_only_reads_upgrades_without_data) {
  chart c(3);
  c.before(1, access::write);
  c.before(2, access::read);
  (void)c.fault(1, access::write);
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

}  // namespace
}  // namespace quire::sequential::sequential_miss_test
