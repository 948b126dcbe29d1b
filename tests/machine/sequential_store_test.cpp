// SPDX-License-Identifier: BSD-3-Clause
// Units that a store keeps (src/protocol/sequential/flush.cpp), step by step: what makes a unit dirty, what does not,
// and what a flush costs.
#include <gtest/gtest.h>

#include <cerrno>

#include "sequential_chart.hpp"

namespace quire::sequential::sequential_store_test {
namespace {

using model::flush_outcome;

/// Node 0 manages unit 0.
struct sequential_store : testing::Test {
  sequential_store() : all(3, true) {}
  flush_outcome flush() { return all.flush(0); }
  bool dirty() { return all.at(0).entry(0).dirty != 0; }
  chart all;
};

TEST_F(sequential_store, reading_at_home_makes_nothing_dirty) {
  (void)all.fault(0, access::read);
  EXPECT_EQ(all.take(), "0: read fault\n0: permit none > read\n0: wake\n");
  EXPECT_FALSE(dirty());
  EXPECT_TRUE(all.at(0).stored().is_clean(0));
  EXPECT_EQ(flush(), flush_outcome::clean);
  (void)all.fault(0, access::write);
  EXPECT_TRUE(dirty());
}

TEST_F(sequential_store, readers_elsewhere_make_nothing_dirty) {
  all.before(1, access::read);
  EXPECT_FALSE(dirty());
  all.before(1, access::write);
  EXPECT_TRUE(dirty());
}

TEST_F(sequential_store, a_flush_at_home_costs_no_message) {
  all.before(0, access::write);
  EXPECT_EQ(flush(), flush_outcome::next);
  EXPECT_EQ(all.take(), "0: protect write > read\n0: flush\n");
  EXPECT_EQ(flush(), flush_outcome::under_way);
  all.flushed(0, true);
  EXPECT_EQ(flush(), flush_outcome::clean);
  EXPECT_EQ(all.take(), "");
}

/// The next write would fault for nothing else.
TEST_F(sequential_store, a_hint_maps_again_what_a_flush_has_lowered) {
  all.before(0, access::write);
  (void)flush();
  all.flushed(0, true);
  (void)all.take();
  EXPECT_FALSE(all.hint(0, access::read)) << "that it may do already";
  EXPECT_FALSE(dirty());
  EXPECT_TRUE(all.hint(0, access::write));
  EXPECT_EQ(all.take(), "0: permit read > write\n");
  EXPECT_TRUE(dirty());
  EXPECT_FALSE(all.hint(0, access::write));
  EXPECT_TRUE(all.hint(1, access::read)) << "who does not have it asks";
  EXPECT_EQ(all.take(), "1 -> 0 read_request\n");
}

/// As if a thread of the home wanted to read.
TEST_F(sequential_store, a_flush_of_what_another_node_has_is_a_read) {
  all.before(1, access::write);
  EXPECT_EQ(flush(), flush_outcome::next);
  all.run();
  EXPECT_EQ(all.take(),
            "0 -> 0 read_request\n"
            "0 -> 1 fetch_read\n"
            "1: protect write > read\n"
            "1 -> 0 read_reply +data\n"
            "0 -> 0 done\n"
            "0: wake\n"
            "0: flush\n");
  EXPECT_FALSE(dirty());
  all.before(1, access::write);
  EXPECT_TRUE(dirty()) << "the owner has to ask before it writes again";
}

TEST_F(sequential_store, what_is_written_during_a_flush_waits_for_its_end) {
  all.before(0, access::write);
  (void)flush();
  all.before(0, access::write);
  EXPECT_EQ(flush(), flush_outcome::next);
  EXPECT_EQ(all.take(), "") << "no second one beside it";
  all.flushed(0, true);
  EXPECT_EQ(all.take(), "0: protect write > read\n0: flush\n");
}

TEST_F(sequential_store, a_flush_that_fails_leaves_the_unit_dirty) {
  all.before(0, access::write);
  (void)flush();
  all.flushed(0, false);
  EXPECT_TRUE(dirty());
  EXPECT_FALSE(all.at(0).stored().is_clean(0));
}

/// Not as a unit that is lost: who asks next may have more luck.
TEST_F(sequential_store, a_request_that_is_refused_is_over) {
  (void)all.fault(1, access::write);
  message request;
  request.kind = message_kind::write_request;
  request.requester = node_id{1};
  all.forget_messages();
  (void)all.take();
  all.unfilled(0, request, EIO);
  all.run();
  EXPECT_EQ(all.take(), "0 -> 1 unit_refused\n1: refuse\n");
  EXPECT_EQ(all.at(1).outstanding(), 0u);
  EXPECT_EQ(all.fault(1, access::write), fault_outcome::started);
}

TEST_F(sequential_store, nothing_is_taken_for_zero) {
  (void)all.fault(1, access::read);
  all.run();
  EXPECT_NE(all.take().find("read_reply +data"), std::string::npos);
}

}  // namespace
}  // namespace quire::sequential::sequential_store_test
