// SPDX-License-Identifier: BSD-3-Clause
// A home that is short of memory gives units to other nodes, as charts (src/protocol/release/paging.cpp).
#include "release_chart.hpp"

namespace quire::release::release_page_out_test {
namespace {

chart limited(unsigned nodes) { return chart(nodes, false, updates::learned, false, true); }

TEST(release_page_out, who_is_asked_becomes_the_home) {
  chart c = limited(2);
  c.before(0, access::write);
  ASSERT_TRUE(c.please_take(1));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1 -> 0 copy_request take
    0: protect write > none
    0 -> 1 home_move +data take
    1: wake)"));
  EXPECT_EQ(c.at(0).frames().use_of_frame(0), model::frame_use::none);
  EXPECT_EQ(c.at(1).frames().use_of_frame(0), model::frame_use::needed);
  c.fault(0, access::read);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: read fault
    0 -> 1 copy_request
    1 -> 0 copy_reply +data
    0: permit none > read
    0: wake)"));
}

TEST(release_page_out, a_copy_gives_way_to_the_content) {
  chart c = limited(2);
  c.before(1, access::read);
  c.before(0, access::write);
  ASSERT_TRUE(c.please_take(1)) << "what it has may be old";
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: protect read > none
    1 -> 0 copy_request take
    0: protect write > none
    0 -> 1 home_move +data take
    1: permit none > read
    1: wake)"));
  c.release(0);
  EXPECT_EQ(c.take(), "0: release\n") << "its notice is told all the same, and there is nothing to send";
}

TEST(release_page_out, a_thread_that_wants_the_unit_meanwhile_gets_it_as_the_homes) {
  chart c = limited(2);
  c.before(0, access::write);
  ASSERT_TRUE(c.please_take(1));
  EXPECT_EQ(c.fault(1, access::write), fault_outcome::joined);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1 -> 0 copy_request take
    1: write fault
    0: protect write > none
    0 -> 1 home_move +data take
    1: permit none > write
    1: wake)"))
      << "without a twin";
}

TEST(release_page_out, diffs_and_requests_follow_the_home) {
  chart c = limited(3);
  c.before(0, access::read);
  c.before(2, access::write);
  ASSERT_TRUE(c.please_take(1));
  c.step();
  c.release(2);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1 -> 0 copy_request take
    0: protect read > none
    0 -> 1 home_move +data take
    2: release
    2: protect write > read
    2 -> 0 diff
    1: wake
    0: forwards diff of 2
    0 -> 1 diff for 2
    1: applies diff of 2
    1 -> 0 ack
    0 -> 2 ack)"));
  EXPECT_EQ(c.unacknowledged(2), 0);
}

TEST(release_page_out, who_was_the_home_may_be_it_again) {
  chart c = limited(2);
  c.before(0, access::write);
  ASSERT_TRUE(c.please_take(1));
  c.run();
  ASSERT_TRUE(c.please_take(0));
  c.run();
  EXPECT_TRUE(c.at(0).is_home(0));
}

TEST(release_page_out, who_uses_the_unit_does_not_take_it) {
  chart c = limited(3);
  EXPECT_FALSE(c.please_take(0)) << "its own";
  c.before(0, access::write);
  c.fault(1, access::read);
  EXPECT_FALSE(c.please_take(1)) << "a copy is on its way";
  c.run();
  c.before(1, access::write);
  EXPECT_FALSE(c.please_take(1)) << "it has changed its copy";
  c.pin(2);
  EXPECT_FALSE(c.please_take(2)) << "it waits for a pin";
}

TEST(release_page_out, a_pinned_unit_stays_and_who_asked_gets_a_copy_when_it_is_free) {
  chart c = limited(2);
  c.before(0, access::write);
  c.pin(0);
  ASSERT_TRUE(c.please_take(1));
  c.run();
  EXPECT_TRUE(c.at(0).is_home(0));
  EXPECT_TRUE(c.unpin(0));
  c.release(0);
  c.run();
  EXPECT_TRUE(c.at(0).is_home(0) != c.at(1).is_home(0));
  EXPECT_EQ(c.at(1).outstanding(), 0u);
}

TEST(release_page_out, a_node_whose_diffs_are_on_their_way_keeps_its_homes) {
  chart c = limited(2);
  c.before(0, access::write);
  c.before(0, access::write, 1);
  c.release(0);  // what it wrote in unit 1
  ASSERT_TRUE(c.please_take(1));
  c.deliver(message_kind::copy_request, 1, 0);
  EXPECT_TRUE(c.at(0).is_home(0))
      << "a thread may have said by unit 0 that unit 1 is written, and be believed elsewhere";
  c.run();
  EXPECT_FALSE(c.please_take(0)) << "its own";
  ASSERT_TRUE(c.please_take(1));
  c.run();
  EXPECT_TRUE(c.at(1).is_home(0));
}

/// It may have given up its copy without a word.
TEST(release_page_out, who_alone_wrote_fetches_the_content_with_the_home) {
  chart c = limited(2);
  c.before(0, access::write);
  c.before(1, access::write);
  c.release(1);
  c.run();
  (void)c.take();
  EXPECT_FALSE(c.only_writer(0, 1));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: only 1 wrote
    0 -> 1 home_offer
    1: protect read > none
    1 -> 0 copy_request take
    0: protect read > none
    0 -> 1 home_move +data take
    1: permit none > read
    1: wake)"));
}

TEST(release_page_out, homes_stay_in_blocks) {
  chart c = limited(2);
  c.before(0, access::write);
  ASSERT_TRUE(c.please_take(1));
  c.block(true);
  (void)c.take();
  EXPECT_FALSE(c.please_take(1, 0));
  c.run();
  EXPECT_TRUE(c.at(0).is_home(0));
  EXPECT_TRUE(c.at(1).has_content(0)) << "a copy, of which it can get rid";
}

}  // namespace
}  // namespace quire::release::release_page_out_test
