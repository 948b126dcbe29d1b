// SPDX-License-Identifier: BSD-3-Clause
// Where all nodes have their frames together (I20), as charts: src/protocol/sequential/README.md, One memory.
#include "sequential_chart.hpp"

namespace quire::sequential::sequential_one_memory_test {
namespace {

/// Of nodes that have one memory.
struct together : chart {
  explicit together(unsigned nodes) : chart(nodes, false, true) {}
};

TEST(sequential_one_memory, who_asks_once_may_write_and_nobody_loses_anything) {
  together c(3);
  c.before(0, access::write);
  c.before(1, access::write);
  c.fault(2, access::read);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: read fault
    2 -> 0 read_request
    0 -> 2 read_reply no_data
    2: permit none > write
    2: wake)"));
  for (std::uint16_t n = 0; n < 3; ++n) EXPECT_EQ(c.at(n).mapped(0), access::write) << n;
  EXPECT_EQ(c.at(0).count().invalidations, 0u);
}

TEST(sequential_one_memory, a_unit_that_its_home_has_not_touched_counts_as_written) {
  together c(2);
  c.fault(1, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 read_request
    0 -> 1 read_reply no_data
    1: permit none > write
    1: wake)"));
  EXPECT_TRUE(c.at(0).is_written(0)) << "node 1 writes it unheard";
  EXPECT_TRUE(c.at(0).keeps(0));
  EXPECT_FALSE(c.at(1).keeps(0));
}

TEST(sequential_one_memory, an_operation_is_done_where_the_unit_may_be_written) {
  together c(2);
  c.before(0, access::write);
  c.before(1, access::read);
  c.add(1, 5);
  EXPECT_EQ(c.hops(), 0u);
  EXPECT_EQ(c.take(), lines(R"(
    1: add
    1: operate here)"));
}

TEST(sequential_one_memory, an_operation_takes_the_unit_from_nobody) {
  together c(3);
  c.before(1, access::write);
  c.add(2, 5);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2: add
    2 -> 0 atomic_request
    0: operate
    0 -> 2 atomic_reply
    2: complete)"));
  EXPECT_EQ(c.at(1).mapped(0), access::write);
}

TEST(sequential_one_memory, a_pin_takes_the_unit_from_all_others) {
  together c(3);
  c.before(0, access::write);
  c.before(1, access::write);
  EXPECT_EQ(c.pin(1), fault_outcome::started) << "others may write it";
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: pin
    1 -> 0 write_request
    0: protect write > none
    0 -> 1 write_grant
    1: wake)"));
  EXPECT_EQ(c.pin_again(1), fault_outcome::local);
  c.fault(2, access::read);
  c.run();
  EXPECT_EQ(c.at(2).mapped(0), access::none);
  EXPECT_TRUE(c.unpin(1));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: pin again
    2: read fault
    2 -> 0 read_request
    0 -> 1 fetch_read
    1: unpin
    1 -> 2 read_reply no_data
    2: permit none > write
    2 -> 0 done
    2: wake)"));
  EXPECT_EQ(c.at(1).mapped(0), access::write) << "who had it pinned goes on";
}

TEST(sequential_one_memory, a_pin_at_the_manager_that_is_alone_costs_no_message) {
  together c(2);
  c.before(0, access::write);
  EXPECT_EQ(c.pin(0), fault_outcome::local);
  EXPECT_EQ(c.hops(), 0u);
  c.fault(1, access::write);
  c.run();
  EXPECT_EQ(c.at(1).mapped(0), access::none);
  EXPECT_TRUE(c.unpin(0));
  c.run();
  EXPECT_EQ(c.at(1).mapped(0), access::write);
  EXPECT_EQ(c.at(0).mapped(0), access::write);
}

TEST(sequential_one_memory, a_push_gives_all_the_right_to_write) {
  together c(3);
  c.before(0, access::write);
  c.push(0);
  c.run();
  for (std::uint16_t n = 0; n < 3; ++n) EXPECT_EQ(c.at(n).mapped(0), access::write) << n;
  EXPECT_EQ(c.payloads(), 0u);
}

TEST(sequential_one_memory, a_production_phase_notices_the_first_write) {
  together c(2);
  c.before(0, access::write);
  c.before(1, access::write);
  model::actions out;
  c.at(1).pushes().on_produce_begin(0, out);
  EXPECT_EQ(c.at(1).mapped(0), access::read);
  c.before(1, access::write);
  EXPECT_EQ(c.at(1).mapped(0), access::write);
  EXPECT_TRUE(c.at(1).pushes().on_produce_end(0));
}

TEST(sequential_one_memory, who_had_it_pinned_knows_that_it_is_alone) {
  together c(3);
  c.before(1, access::write);
  (void)c.pin(1);
  c.run();
  (void)c.pin_again(1);
  EXPECT_TRUE(c.unpin(1));
  (void)c.take();
  EXPECT_EQ(c.pin(1), fault_outcome::local);
  EXPECT_TRUE(c.unpin(1));
  EXPECT_EQ(c.hops(), 0u);
  c.before(2, access::read);
  EXPECT_EQ(c.pin(1), fault_outcome::started) << "node 2 has it as well";
}

TEST(sequential_one_memory, frames_that_go_apart_are_copies) {
  together c(2);
  c.before(1, access::write);
  c.before(0, access::write);
  c.at(0).on_frames_apart();
  c.at(1).on_frames_apart();
  EXPECT_EQ(c.at(0).right_of(0), access::read);
  EXPECT_EQ(c.at(1).right_of(0), access::read);
  (void)c.take();
  c.fault(1, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 write_request
    0 -> 1 write_grant
    1: permit none > write
    1: wake)"));
}

}  // namespace
}  // namespace quire::sequential::sequential_one_memory_test
