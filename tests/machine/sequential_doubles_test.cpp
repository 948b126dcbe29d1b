// SPDX-License-Identifier: BSD-3-Clause
// Double faults (KOAN): a read fault that a write fault of the same node and unit follows costs twice. By advice, or
// where a unit has shown it twice, the read asks for a writable copy.
#include "sequential_chart.hpp"

namespace quire::sequential::sequential_doubles_test {
namespace {

/// Node 1 reads unit 0 and then writes it; node 0, the manager, has taken it before.
void update(chart& c, bool writes = true) {
  c.before(0, access::write);
  (void)c.fault(1, access::read);
  c.run();
  if (writes && c.at(1).unit(0).mapped() != access::write) {
    (void)c.fault(1, access::write);
    c.run();
  }
}

TEST(sequential_doubles, read_then_write_costs_two_requests) {
  chart c(2);
  update(c);
  EXPECT_EQ(c.hops(), 4u);
  EXPECT_EQ(c.at(1).count().double_faults, 1u);
  EXPECT_EQ(c.at(1).count().exclusive_reads, 0u);
}

TEST(sequential_doubles, advised_read_brings_a_writable_copy) {
  chart c(2);
  c.before(0, access::write);
  c.advise(1, true);
  (void)c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: read fault
    1 -> 0 write_request
    0: protect write > none
    0 -> 1 write_reply +data
    1: permit none > write
    1: wake
  )"));
  EXPECT_EQ(c.at(1).count().exclusive_reads, 1u);
  c.advise(1, false);
  c.before(0, access::write);
  (void)c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.at(1).right_of(0), access::read);
}

TEST(sequential_doubles, unit_learns_after_two_and_is_probed_at_first) {
  chart c(2);
  update(c);
  update(c);
  EXPECT_EQ(c.at(1).count().double_faults, 2u);
  c.before(0, access::write);
  (void)c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.at(1).right_of(0), access::write);
  EXPECT_EQ(c.take(), lines(R"(
    1: read fault
    1 -> 0 write_request
    0: protect write > none
    0 -> 1 write_reply +data
    1: permit none > read
    1: wake
  )")) << "the write is to be seen";
  EXPECT_EQ(c.fault(1, access::write), fault_outcome::local);
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1: permit read > write
    1: wake
  )"));
  c.before(0, access::write);
  (void)c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.at(1).unit(0).mapped(), access::write) << "no fault at all for the write";
}

TEST(sequential_doubles, in_the_long_run_faults_and_messages_are_half) {
  chart c(2);
  for (int i = 0; i < 2; ++i) update(c);
  const auto before = c.at(1).count();
  unsigned hops = 0;
  constexpr unsigned times = 60;
  for (unsigned i = 0; i < times; ++i) {
    c.before(0, access::write);
    update(c);
    hops += c.hops();
    (void)c.take();
  }
  const auto& after = c.at(1).count();
  EXPECT_EQ(after.double_faults, before.double_faults);
  EXPECT_EQ(after.exclusive_reads - before.exclusive_reads, times);
  EXPECT_EQ(after.upgrade_faults, before.upgrade_faults);
  EXPECT_LE(after.local_faults - before.local_faults, times / 5) << "one in six is a probe";
  EXPECT_EQ(hops, 2 * times);
}

TEST(sequential_doubles, copy_that_is_lost_unwritten_ends_the_habit) {
  chart c(2);
  update(c);
  update(c);
  update(c, false);
  c.before(0, access::read);
  EXPECT_EQ(c.at(1).count().exclusive_wasted, 1u) << "another node reads, and this one has not written";
  c.before(0, access::write);
  (void)c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.at(1).right_of(0), access::read);
}

TEST(sequential_doubles, after_it_was_sure_a_unit_is_wrong_six_times_at_most) {
  chart c(3);
  for (int i = 0; i < 4; ++i) update(c);
  unsigned taken = 0;
  for (int i = 0; i < 40; ++i) {
    c.before(0, access::write);
    c.before(2, access::read);
    (void)c.fault(1, access::read);
    c.run();
    (void)c.take();
    if (c.at(2).right_of(0) == access::none) ++taken;
  }
  EXPECT_LE(taken, 6u);
  EXPECT_EQ(c.at(1).count().exclusive_wasted, 1u);
}

TEST(sequential_doubles, reads_between_the_double_faults_keep_it_from_learning) {
  chart c(2);
  for (int i = 0; i < 20; ++i) update(c, i % 2 == 0);
  EXPECT_EQ(c.at(1).count().exclusive_reads, 0u);
}

TEST(sequential_doubles, read_sharing_is_left_alone) {
  chart c(4);
  for (int i = 0; i < 10; ++i) {
    c.before(0, access::write);
    for (const std::uint16_t reader : {1, 2, 3}) c.before(reader, access::read);
  }
  for (const std::uint16_t reader : {1, 2, 3}) {
    EXPECT_EQ(c.at(reader).count().read_faults, 10u);
    EXPECT_EQ(c.at(reader).count().exclusive_reads, 0u);
  }
}

TEST(sequential_doubles, pin_of_a_probe_may_write) {
  chart c(2);
  update(c);
  update(c);
  update(c, false);
  EXPECT_EQ(c.at(1).unit(0).mapped(), access::read);
  EXPECT_EQ(c.pin(1), fault_outcome::local);
  EXPECT_EQ(c.at(1).unit(0).mapped(), access::write);
  EXPECT_TRUE(c.unpin(1));
}

}  // namespace
}  // namespace quire::sequential::sequential_doubles_test
