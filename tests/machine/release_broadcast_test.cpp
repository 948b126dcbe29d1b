// SPDX-License-Identifier: BSD-3-Clause
// Push and page broadcasting under release consistency, as charts (src/protocol/release/broadcast.cpp).
#include "release_chart.hpp"

namespace quire::release::release_broadcast_test {
namespace {

TEST(release_broadcast, what_the_home_writes_in_a_phase_is_noticed) {
  chart c(2);
  c.before(0, access::write);
  c.produce(0);
  EXPECT_EQ(c.take(), lines(R"(
    0: release
    0: protect write > read)"));
  EXPECT_FALSE(c.at(0).pushes().on_produce_end(0)) << "nothing was";
  c.produce(0);
  c.before(0, access::write);
  EXPECT_TRUE(c.at(0).pushes().on_produce_end(0));
}

TEST(release_broadcast, reading_at_the_home_is_not_writing) {
  chart c(2);
  c.produce(0);
  (void)c.take();
  c.fault(0, access::read);
  EXPECT_EQ(c.take(), lines(R"(
    0: read fault
    0: permit none > read
    0: wake)"))
      << "though nobody has a copy";
  EXPECT_FALSE(c.at(0).pushes().on_produce_end(0));
}

TEST(release_broadcast, what_is_written_in_a_copy_is_noticed) {
  chart c(2);
  c.before(1, access::write);
  c.produce(1);
  c.run();
  EXPECT_FALSE(c.at(1).pushes().on_produce_end(0)) << "that was before";
  c.produce(1);
  c.before(1, access::write);
  c.release(1);  // by a lock, in the phase
  EXPECT_TRUE(c.at(1).pushes().on_produce_end(0));
}

TEST(release_broadcast, the_home_spreads_and_counts_on_copies_from_then_on) {
  chart c(3);
  c.before(0, access::write);
  c.push(1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1 -> 0 spread_request
    0: protect write > read
    0: spreads for 1)"));
  EXPECT_TRUE(c.spread(2));
  EXPECT_EQ(c.take(), "2: permit none > read\n");
  c.fault(0, access::write);
  EXPECT_EQ(c.open(0).written.size(), 1u) << "others have to hear of it";
}

TEST(release_broadcast, who_has_a_copy_or_has_asked_for_one_takes_none) {
  chart c(3);
  c.before(1, access::read);
  EXPECT_FALSE(c.spread(0));
  EXPECT_FALSE(c.spread(1));
  c.fault(2, access::read);
  EXPECT_FALSE(c.spread(2));
  c.run();
  c.notice(1);
  EXPECT_TRUE(c.spread(1));
}

TEST(release_broadcast, who_was_home_passes_the_request_on) {
  chart c(3);
  c.before(1, access::write);
  c.release(1);
  c.run();
  EXPECT_TRUE(c.only_writer(0, 1));
  c.run();
  (void)c.take();
  c.push(2);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    2 -> 0 spread_request
    0 -> 1 spread_request for 2
    1: spreads for 2)"));
}

}  // namespace
}  // namespace quire::release::release_broadcast_test
