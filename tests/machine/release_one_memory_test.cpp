// SPDX-License-Identifier: BSD-3-Clause
// Where all nodes have their frames together (I12), as charts: src/protocol/release/README.md, One memory.
#include "release_chart.hpp"

namespace quire::release::release_one_memory_test {
namespace {

/// Of nodes that have one memory.
struct together : chart {
  explicit together(unsigned nodes, bool first_touch = false)
      : chart(nodes, first_touch, updates::learned, false, false, true, true, protocol::migratory::learned, true) {}
};

TEST(release_one_memory, who_asks_once_writes_without_a_twin) {
  together c(2);
  c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: read fault
    1 -> 0 copy_request
    0 -> 1 copy_reply
    1: permit none > write
    1: wake)"));
  EXPECT_TRUE(c.at(0).is_written(0)) << "node 1 may have written it since";
  c.release(1);
  c.run();
  EXPECT_EQ(c.take(), "1: release\n");
  EXPECT_TRUE(c.open(1).written.empty());
}

TEST(release_one_memory, the_home_keeps_its_right_and_tells_nobody) {
  together c(2);
  c.before(0, access::write);
  c.fault(1, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1 -> 0 copy_request
    0 -> 1 copy_reply
    1: permit none > write
    1: wake)"));
  EXPECT_TRUE(c.open(0).written.empty());
  EXPECT_EQ(c.at(0).count().host_units, 1u);
}

TEST(release_one_memory, the_first_who_touches_becomes_the_home) {
  together c(2, true);
  c.fault(1, access::write);
  c.run();
  EXPECT_TRUE(c.at(1).is_home(0));
  (void)c.take();
  c.fault(0, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: write fault
    0 -> 1 copy_request
    1 -> 0 copy_reply
    0: permit none > write
    0: wake)"));
}

TEST(release_one_memory, a_pin_brings_no_content) {
  together c(2);
  c.before(0, access::write);
  c.pin(1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: pin
    1 -> 0 pin_request
    0 -> 1 pin_grant
    1: permit none > write
    1: wake)"));
}

TEST(release_one_memory, a_production_phase_notices_a_write_of_any_node) {
  together c(2);
  c.before(1, access::write);
  c.produce(1);
  c.fault(1, access::read);
  EXPECT_FALSE(c.at(1).pushes().on_produce_end(0)) << "nothing was written";
  c.produce(1);
  c.before(1, access::write);
  EXPECT_TRUE(c.at(1).pushes().on_produce_end(0));
}

TEST(release_one_memory, frames_that_go_apart_are_copies_that_the_home_has_told_nobody_of) {
  together c(2);
  c.before(0, access::write);
  c.before(1, access::write);
  for (std::uint16_t n = 0; n < 2; ++n) {
    c.at(n).on_frames_apart();
    EXPECT_EQ(c.at(n).mapped(0), access::none);
    EXPECT_TRUE(c.at(n).has_content(0));
    EXPECT_TRUE(c.at(n).is_valid(0));
  }
  c.fault(1, access::write);
  EXPECT_EQ(c.take(), lines(R"(
    1: write fault
    1: twin
    1: permit none > write
    1: wake)"));
  c.fault(0, access::write);
  EXPECT_EQ(c.open(0).written.size(), 1u) << "node 1 has to hear of it";
}

}  // namespace
}  // namespace quire::release::release_one_memory_test
