// SPDX-License-Identifier: BSD-3-Clause
// Units of the release protocol that keep their right from interval to interval (kept.cpp), as charts.
#include <gmock/gmock.h>

#include "release_chart.hpp"

namespace quire::release::release_keep_test {
namespace {

chart keeping(unsigned nodes = 2, updates update = updates::always) {
  return chart(nodes, false, update, false, false, true);
}

/// Unit 0 of node 0, which node 1 has read, is written for the first time, and its update is taken.
chart kept_at_home(unsigned nodes = 2) {
  chart c = keeping(nodes);
  c.before(0, access::write);
  c.before(1, access::read);
  c.fault(0, access::write);
  c.release(0);
  (void)c.take();
  c.told(0, 1);
  EXPECT_EQ(c.take(), lines(R"(
    0: tells
    0: twin
    0 -> 1 update +data as told)"))
      << "nothing is protected";
  c.run();
  c.before(1, access::read);  // looks at it, or it gets no more
  return c;
}
/// One that node 1 has written in two intervals.
chart kept_copy() {
  chart c = keeping(2, updates::learned);
  c.before(0, access::write);
  for (int i = 0; i < 2; ++i) {
    c.fault(1, access::write);
    c.run();
    (void)c.take();
    c.release(1);
    if (i == 0) {
      EXPECT_EQ(c.take(), lines(R"(
    1: release
    1: protect write > read
    1 -> 0 diff)"));
    }
  }
  EXPECT_EQ(c.take(), lines(R"(
    1: release
    1 -> 0 diff)"))
      << "it stays writable";
  c.run();
  (void)c.take();
  return c;
}
void write(chart& c, std::uint16_t node, std::uint32_t interval) {
  c.written(node);
  c.release(node);
  c.told(node, interval);
}

TEST(release_keep, a_home_sends_what_it_has_changed_and_takes_no_fault) {
  chart c = kept_at_home();
  EXPECT_EQ(c.unit(0).mapped(), access::write);
  write(c, 0, 2);
  EXPECT_EQ(c.take(), lines(R"(
    0: has written
    0: release
    0: tells
    0 -> 1 patch)"));
  c.run();
  c.notice_of(1, 0, 2);
  EXPECT_EQ(c.take(), lines(R"(
    1: takes the patch
    1: notice)"))
      << "the copy has what the notice is about";
}

TEST(release_keep, what_it_has_not_written_is_not_told) {
  chart c = kept_at_home();
  c.release(0);
  EXPECT_EQ(c.take(), "0: release\n");
}

TEST(release_keep, a_patch_counts_only_for_copies_that_have_all_before) {
  chart c = kept_at_home();
  write(c, 0, 2);
  c.lose();
  write(c, 0, 3);
  (void)c.take();
  c.run();
  c.notice_of(1, 0, 3);
  EXPECT_EQ(c.take(), lines(R"(
    1: drops the patch
    1: notice
    1: protect read > none)"));
}

TEST(release_keep, a_request_leaves_the_right_to_write) {
  chart c = kept_at_home(3);
  c.fault(2, access::read);
  c.run();
  EXPECT_EQ(c.unit(0).mapped(), access::write);
  EXPECT_TRUE(c.at(2).has_content(0));
  (void)c.take();
  write(c, 0, 2);
  EXPECT_THAT(c.take(), testing::HasSubstr("0 -> 2 patch"));
}

TEST(release_keep, a_home_whose_readers_are_gone_is_as_any_other) {
  chart c = kept_at_home();
  for (std::uint32_t interval = 2; c.at(0).kept().is_kept(0); ++interval) {
    ASSERT_LT(interval, 200u) << "a row of updates ends";
    write(c, 0, interval);
  }
  EXPECT_THAT(c.take(), testing::HasSubstr("0: drop twin"));
  EXPECT_EQ(c.open(0).twins, 0u);
  EXPECT_EQ(c.unit(0).mapped(), access::write) << "nobody has a copy";
}

TEST(release_keep, a_copy_that_is_written_again_and_again_sends_diffs_and_takes_no_fault) {
  chart c = kept_copy();
  c.written(1);
  c.release(1);
  EXPECT_EQ(c.take(), lines(R"(
    1: has written
    1: release
    1 -> 0 diff)"));
  EXPECT_EQ(c.open(1).twins, 1u);
}

TEST(release_keep, a_notice_takes_it_with_what_was_written_since) {
  chart c = kept_copy();
  c.notice(1);
  EXPECT_EQ(c.take(), lines(R"(
    1: notice
    1: protect write > none
    1 -> 0 diff)"));
  c.at(1).rights().on_differs(0);
  EXPECT_EQ(c.open(1).written.size(), 1u) << "nobody had seen that it was written";
  EXPECT_EQ(c.open(1).twins, 0u);
}

TEST(release_keep, one_that_is_not_written_any_more_is_protected) {
  chart c = kept_copy();
  c.end_keeping(1, false);
  EXPECT_EQ(c.take(), lines(R"(
    1: keeps no longer
    1: protect write > read
    1: drop twin)"));
  EXPECT_EQ(c.open(1).twins, 0u);
}

TEST(release_keep, or_sends_a_last_diff_if_it_was_written_after_all) {
  chart c = kept_copy();
  c.end_keeping(1, true);
  c.release(1);
  EXPECT_EQ(c.take(), lines(R"(
    1: keeps no longer
    1: protect write > read
    1: release
    1 -> 0 diff)"));
  EXPECT_EQ(c.open(1).twins, 0u);
}

TEST(release_keep, a_home_that_comes_to_a_kept_copy_finds_its_right_and_its_twin) {
  chart c = kept_copy();
  c.only_writer(0, 1);
  c.run();
  EXPECT_TRUE(c.at(1).is_home(0));
  EXPECT_TRUE(c.at(1).kept().is_kept(0));
  EXPECT_EQ(c.unit(1).mapped(), access::write);
  EXPECT_TRUE(c.open(1).written.empty()) << "whether it was written since is found by comparison";
}

TEST(release_keep, both_sides_write_and_what_they_send_crosses) {
  chart c = kept_at_home();
  for (int i = 0; i < 2; ++i) {  // node 1 becomes the partner
    c.fault(1, access::write);
    c.run();
    c.release(1);
    c.run();
  }
  ASSERT_TRUE(c.at(1).kept().is_kept(0));
  c.notice(1);  // and comes back once
  c.run();
  c.before(1, access::write);
  c.release(1);
  c.run();
  (void)c.take();
  c.written(0);
  c.release(0);
  c.written(1);
  c.release(1);
  c.told(0, 2);
  EXPECT_EQ(c.take(), lines(R"(
    0: has written
    0: release
    1: has written
    1: release
    1 -> 0 diff
    0: tells
    0 -> 1 patch)"));
  c.run();
  EXPECT_THAT(c.take(), testing::HasSubstr("1: takes the patch"));
  c.notice_of(1, 0, 2);
  EXPECT_TRUE(c.at(1).has_content(0));
}

TEST(release_keep, nothing_is_kept_where_that_is_not_wanted) {
  for (const bool keeps : {false, true}) {
    chart c(2, false, updates::always, false, keeps, keeps);  // nor where memory is limited
    c.before(0, access::write);
    for (int i = 0; i < 4; ++i) {
      c.before(1, access::write);
      c.release(1);
      c.run();
    }
    EXPECT_FALSE(c.at(1).kept().is_kept(0));
    EXPECT_EQ(c.unit(1).mapped(), access::read);
  }
}

}  // namespace
}  // namespace quire::release::release_keep_test
