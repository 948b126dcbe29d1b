// SPDX-License-Identifier: BSD-3-Clause
// Parallel blocks on units that have release consistency before and after, as charts (src/protocol/release/blocks.cpp).
#include "release_chart.hpp"

namespace quire::release::release_block_test {
namespace {

TEST(release_block, the_home_keeps_what_was_there_before_its_first_write) {
  chart c(2);
  c.before(0, access::write);
  c.block(true);
  c.fault(0, access::write);
  EXPECT_EQ(c.take(), lines(R"(
    0: block
    0: protect write > read
    0: write fault
    0: twin
    0: permit read > write
    0: wake)"));
  EXPECT_TRUE(c.at(0).blocks().has_base(0));
}

TEST(release_block, a_copy_of_what_was_there_before_is_told_of_the_write_that_it_does_not_have) {
  chart c(2);
  c.before(0, access::write);
  c.block(true);
  c.before(0, access::write);
  EXPECT_TRUE(c.open(0).written.empty()) << "nobody has a copy";
  c.before(1, access::read);
  EXPECT_EQ(c.open(0).written.size(), 1u) << "the copy is old already";
  c.release(0);
  c.notice(1);
  (void)c.take();
  c.block(false);
  EXPECT_EQ(c.take(), lines(R"(
    0: end
    1: end
    1: protect read > none)"));
}

TEST(release_block, what_others_wrote_is_not_seen_before_the_end) {
  chart c(3);
  c.before(1, access::write);
  c.before(2, access::read);
  c.release(1);
  c.run();
  c.notice(2);
  c.block(true);
  c.before(2, access::read);
  c.before(1, access::write);
  c.release(1);
  EXPECT_EQ(c.take(), lines(R"(
    1: release
    1: protect write > read
    1 -> 0 diff)"));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: collects diff of 1
    0 -> 1 ack)"));
  c.notice(2);
  EXPECT_EQ(c.take(), "2: notice\n") << "the copy stays as it is";
  c.block(false);
  EXPECT_EQ(c.take(), lines(R"(
    0: end
    1: end
    2: end
    2: protect read > none)"));
  EXPECT_EQ(c.unit(1).mapped(), access::read) << "the only writer has what the home has";
}

TEST(release_block, a_notice_that_came_before_the_copy_takes_it_away_at_the_end_as_well) {
  chart c(3);
  c.block(true);
  c.before(1, access::write);
  c.release(1);
  c.run();
  c.notice(2);
  c.before(2, access::read);
  c.block(false);
  EXPECT_EQ(c.unit(2).mapped(), access::none);
  EXPECT_EQ(c.fault(2, access::read), fault_outcome::started);
}

TEST(release_block, a_copy_that_nobody_made_old_stays) {
  chart c(2);
  c.before(1, access::read);
  c.block(true);
  c.block(false);
  EXPECT_EQ(c.unit(1).mapped(), access::read);
  c.fault(0, access::write);
  EXPECT_EQ(c.open(0).written.size(), 1u) << "and the home knows that there is one";
}

TEST(release_block, the_home_does_not_move_to_a_copy_from_the_block) {
  chart c(3);
  c.before(0, access::read);
  c.block(true);
  c.before(1, access::write);
  c.before(2, access::write);
  for (const std::uint16_t n : {1, 2}) c.release(n);
  c.run();
  c.notice(1);
  EXPECT_FALSE(c.only_writer(0, 2)) << "nor in the block";
  c.block(false);
  EXPECT_FALSE(c.only_writer(0, 2)) << "what it has is not what the home has";
}

TEST(release_block, where_written_units_are_scanned_for_the_home_lets_nobody_in_without_a_base) {
  chart c(2, false, updates::learned, true);
  c.before(0, access::read);
  c.before(1, access::read);
  c.block(true);
  EXPECT_EQ(c.take(), lines(R"(
    0: block
    0: protect write > none
    1: block)"));
  EXPECT_EQ(c.open(0).written.size(), 1u) << "what the kernel knew of it is lost";
  c.fault(0, access::read);
  EXPECT_EQ(c.take(), lines(R"(
    0: read fault
    0: twin
    0: permit none > write
    0: wake)"));
}

// The last of them would come to a home that keeps it apart, and answers its own writer without it (found by
// contract_block_program).
TEST(release_block, where_written_units_are_scanned_for_writes_end_before_a_checked_block) {
  chart c(2, false, updates::learned, true);
  c.before(1, access::read);
  actions out;
  c.at(1).blocks().on_block_ahead(0, out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out.begin()[0].kind, model::action_kind::protect);
  EXPECT_EQ(out.begin()[0].level, access::none);
  EXPECT_EQ(out.begin()[1].kind, model::action_kind::send_diff);
  EXPECT_FALSE(out.begin()[1].keep);
  c.at(1).rights().on_differs(0);
  EXPECT_EQ(c.open(1).written.size(), 1u) << "it is told";
  out.clear();
  c.at(1).blocks().on_block_ahead(0, out);
  EXPECT_EQ(out.size(), 0u);
  EXPECT_EQ(c.at(1).on_fault(0, access::read, out), fault_outcome::local) << "and the copy is as good as before";
}

TEST(release_block, where_written_units_are_scanned_for_declarations_change_nothing) {
  chart c(2, false, updates::learned, true);
  c.at(1).blocks().on_declared(0);
  EXPECT_FALSE(c.at(1).blocks().is_declared(0));
}

}  // namespace
}  // namespace quire::release::release_block_test
