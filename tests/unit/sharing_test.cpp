// SPDX-License-Identifier: BSD-3-Clause
// Which parts of units nodes use: the table of a node, and what the counts of all nodes say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "sharing/table.hpp"
#include "sharing/verdict.hpp"

namespace quire::sharing::sharing_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// ---- Parts
// ------------------------------------------------------------------------------------------------------------

TEST(sharing_parts, a_page_has_lines_of_64_bytes_and_a_larger_unit_as_many) {
  EXPECT_EQ(line_bytes(4096), 64u);
  EXPECT_EQ(word_of(0, 4096), 0u);
  EXPECT_EQ(word_of(71, 4096), 8u);
  EXPECT_EQ(word_of(4095, 4096), words - 1);
  EXPECT_EQ(line_bytes(65536), 1024u);
  EXPECT_EQ(word_of(1024, 65536), words_a_line);
  EXPECT_EQ(word_of(3 * 4096 - 1, 3 * 4096), words - 1) << "no power of two";
  EXPECT_EQ(words_under(8, 16, 4096).to_ulong(), 6u);
  EXPECT_TRUE(words_under(0, 4096, 4096).all());
}

TEST(sharing_parts, words_that_differ_are_found_where_they_are) {
  std::array<std::byte, 4096> now{}, before{};
  EXPECT_TRUE(words_that_differ(now.data(), before.data(), 0, 4096, 4096).none());
  now[64 + 15] = std::byte{1};
  now[4095] = std::byte{1};
  word_mask wanted;
  wanted.set(9).set(words - 1);
  EXPECT_EQ(words_that_differ(now.data(), before.data(), 0, 4096, 4096), wanted);
  // The second page of a larger unit: its words have 128 bytes.
  EXPECT_EQ(words_that_differ(now.data(), before.data(), 4096, 4096, 65536), word_mask{}.set(32).set(63));
  EXPECT_EQ(ranges_of(lines_of(wanted)), "1, 63");
  EXPECT_EQ(ranges_of(wanted, 8), "72-79, 4088-4095");
  EXPECT_EQ(ranges_of(words_of(line_mask{}.set(2).set(3))), "16-31");
}

// ---- The table
// --------------------------------------------------------------------------------------------------------

TEST(sharing_table, counts_lines_read_words_written_moves_and_time) {
  table t;
  EXPECT_TRUE(t.most(10).empty());
  t.add(3, 7, 9, true, event::moved);
  t.add(3, 7, 10, false, event::moved);
  t.add(3, 7, 9, true, event::used);
  t.add_changes(3, 7, word_mask{}.set(9).set(511), event::moved);
  t.add_wait(3, 7, 100);
  t.add_wait(3, 7, 55);
  t.add(0, 7, 0, false, event::moved);
  const auto most = t.most(10);
  ASSERT_EQ(most.size(), 2u);
  EXPECT_EQ(most[0].region, 3);
  EXPECT_EQ(most[0].unit, 7u);
  EXPECT_EQ(most[0].moves, 3u);
  EXPECT_EQ(most[0].ns, 155u);
  EXPECT_EQ(most[0].writes[9], 3u);
  EXPECT_EQ(most[0].writes[511], 1u);
  EXPECT_EQ(most[0].reads[1], 1u);
  EXPECT_EQ(t.most(1).size(), 1u);
  t.forget(3);
  ASSERT_EQ(t.most(10).size(), 1u);
  EXPECT_EQ(t.most(10)[0].region, 0);
}

TEST(sharing_table, the_first_touch_of_memory_that_never_moves_takes_no_place) {
  table t;
  t.add(0, 1, 0, true, event::seen);
  t.add_wait(0, 1, 5);
  t.came(0, 1, true);
  EXPECT_TRUE(t.most(10).empty());
  t.add(0, 1, 0, true, event::moved);
  t.add(0, 1, 0, true, event::seen);
  EXPECT_EQ(t.most(10)[0].writes[0], 2u);
}

TEST(sharing_table, a_read_that_brings_the_right_to_write_is_a_write) {
  table t;
  t.add(0, 1, 17, false, event::moved);
  t.came(0, 1, false);
  EXPECT_EQ(t.most(1)[0].writes[17], 0u);
  t.add(0, 1, 17, false, event::moved);
  t.came(0, 1, true);
  t.came(0, 1, true);  // nobody has asked again
  EXPECT_EQ(t.most(1)[0].writes[17], 1u);
  t.add(0, 1, 3, true, event::moved);
  t.came(0, 1, true);
  EXPECT_EQ(t.most(1)[0].writes[3], 1u) << "a write is counted once";
}

/// Bounded: a sweep over more units than there are places does not push out those that move again and again, and what
/// takes a place finds it clean.
TEST(sharing_table, what_moves_often_stays_when_it_is_full) {
  table t(5);
  for (std::uint64_t round = 0; round < 200; ++round) {
    for (std::uint64_t unit = 0; unit < 4; ++unit) t.add(1, unit, static_cast<unsigned>(unit), true, event::moved);
    for (std::uint64_t i = 0; i < 30; ++i) t.add(1, 1'000 + round * 30 + i, 500, false, event::moved);
  }
  const auto most = t.most(1'000);
  EXPECT_LE(most.size(), 32u);
  ASSERT_GE(most.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_LT(most[i].unit, 4u);
    EXPECT_GT(most[i].moves, 150u);
    EXPECT_EQ(most[i].writes[most[i].unit], most[i].moves);
    EXPECT_EQ(most[i].reads[500 / words_a_line], 0u);
  }
  for (std::size_t i = 4; i < most.size(); ++i) EXPECT_EQ(most[i].reads[500 / words_a_line], most[i].moves);
}

TEST(sharing_table, threads_count_at_the_same_time) {
  table t;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < 20'000; ++n) t.add(0, n % 16, static_cast<unsigned>(n % words), true, event::moved);
    });
  for (auto& thread : threads) thread.join();
  std::uint64_t moves = 0, writes = 0;
  for (const auto& one : t.most(100)) {
    moves += one.moves;
    for (const auto n : one.writes) writes += n;
  }
  EXPECT_EQ(moves, 80'000u);
  EXPECT_EQ(writes, 80'000u);
}

// ---- The verdict
// ------------------------------------------------------------------------------------------------------

unit_use page() { return {0, 0x1000, 4096}; }

node_use& add_node(unit_use& u, int node, std::uint64_t moves) {
  node_use& n = u.nodes.emplace_back();
  n.node = node;
  n.moves = moves;
  n.ns = 1000;
  return n;
}

TEST(sharing_verdict, nodes_that_write_different_lines_share_falsely) {
  unit_use u = page();
  add_node(u, 0, 20).writes[0] = 20;
  add_node(u, 1, 20).writes[8] = 20;
  const verdict v = judge(u);
  EXPECT_EQ(v.kind, sharing_kind::falsely);
  EXPECT_EQ(v.switches, 38u);
  EXPECT_EQ(v.ns, 2000u);
  EXPECT_TRUE(v.shared.none());
  EXPECT_EQ(ranges_of(lines_of(v.of_nodes[1].written)), "1");
}

TEST(sharing_verdict, words_of_one_line_are_different_too) {
  unit_use u = page();
  for (int node = 0; node < 4; ++node) {
    node_use& n = add_node(u, node, 40);
    n.writes[static_cast<std::size_t>(node)] = 20;
    n.reads[0] = 20;  // of what it then writes
  }
  EXPECT_EQ(judge(u).kind, sharing_kind::falsely);
}

TEST(sharing_verdict, nodes_that_write_the_same_word_share_truly) {
  unit_use u = page();
  for (int node = 0; node < 2; ++node) {
    node_use& n = add_node(u, node, 40);
    n.writes[5] = 20;
    n.reads[0] = 20;
  }
  const verdict v = judge(u);
  EXPECT_EQ(v.kind, sharing_kind::truly);
  EXPECT_EQ(ranges_of(v.shared), "0");
  EXPECT_THAT(advice(u, v), HasSubstr("the same data"));
}

TEST(sharing_verdict, a_reader_of_what_another_writes_shares_truly_and_of_other_lines_falsely) {
  unit_use u = page();
  add_node(u, 0, 20).writes[3] = 20;
  add_node(u, 1, 20).reads[0] = 20;
  EXPECT_EQ(judge(u).kind, sharing_kind::truly);
  u.nodes[1].reads[0] = 0;
  u.nodes[1].reads[40] = 20;
  EXPECT_EQ(judge(u).kind, sharing_kind::falsely);
}

TEST(sharing_verdict, a_few_writes_among_many_reads_count) {
  unit_use u = page();
  for (int node = 0; node < 2; ++node) {
    node_use& n = add_node(u, node, 100);
    n.reads[0] = 100;
    n.writes[0] = 2;
  }
  EXPECT_EQ(judge(u).kind, sharing_kind::truly);
  u.nodes[1].writes[0] = 0;
  u.nodes[1].writes[1] = 2;
  EXPECT_EQ(judge(u).kind, sharing_kind::falsely);
  u.nodes[0].writes[0] = 100;
  EXPECT_EQ(judge(u).kind, sharing_kind::truly) << "node 1 reads what node 0 writes, but for a word by the way";
}

TEST(sharing_verdict, nodes_need_not_use_the_same_equally_often) {
  unit_use u = page();
  add_node(u, 0, 300).writes[0] = 300;
  add_node(u, 1, 100).writes[0] = 100;
  EXPECT_EQ(judge(u).kind, sharing_kind::truly);
  u.nodes[1].writes[0] = 1;
  u.nodes[1].writes[8] = 99;
  EXPECT_EQ(judge(u).kind, sharing_kind::falsely) << "once is by the way";
}

TEST(sharing_verdict, some_lines_shared_and_some_not_are_both) {
  unit_use u = page();
  node_use& a = add_node(u, 0, 40);
  a.writes[0] = 20;
  a.writes[64] = 20;
  node_use& b = add_node(u, 1, 40);
  b.writes[0] = 20;
  b.writes[128] = 20;
  const verdict v = judge(u);
  EXPECT_EQ(v.kind, sharing_kind::both);
  EXPECT_EQ(ranges_of(v.shared), "0");
  EXPECT_THAT(advice(u, v), HasSubstr("what several nodes use (in line 0)"));
}

TEST(sharing_verdict, what_nobody_writes_or_one_node_uses_or_hardly_moves_is_none) {
  unit_use u = page();
  add_node(u, 0, 40).reads[0] = 40;
  add_node(u, 1, 40).reads[1] = 40;
  EXPECT_EQ(judge(u).kind, sharing_kind::none) << "read only";
  EXPECT_EQ(advice(u, judge(u)), "");
  u = page();
  add_node(u, 0, 40).writes[0] = 40;
  EXPECT_EQ(judge(u).kind, sharing_kind::none) << "one node";
  u = page();
  add_node(u, 0, 9).writes[0] = 9;
  add_node(u, 1, 8).writes[8] = 8;
  EXPECT_EQ(judge(u).switches, 15u);
  EXPECT_EQ(judge(u).kind, sharing_kind::none);
  ++u.nodes[1].moves;
  EXPECT_EQ(judge(u).kind, sharing_kind::falsely) << "16 are enough";
}

TEST(sharing_verdict, a_node_that_filled_all_at_first_does_not_hide_it) {
  unit_use u = page();
  node_use& a = add_node(u, 0, 500);
  for (unsigned word = 0; word < words; word += words_a_line) a.writes[word] = 1;
  a.writes[0] = 500;
  add_node(u, 1, 500).writes[8] = 500;
  const verdict v = judge(u);
  EXPECT_EQ(v.kind, sharing_kind::falsely);
  EXPECT_TRUE(v.shared.none());
  EXPECT_EQ(ranges_of(lines_of(v.of_nodes[0].written)), "0");
}

// ---- Advice
// -----------------------------------------------------------------------------------------------------------

unit_use falsely_shared() {
  unit_use u = page();
  add_node(u, 0, 20).writes[0] = 20;
  add_node(u, 1, 20).writes[8] = 20;
  return u;
}

TEST(sharing_advice, says_how_far_apart_the_elements_of_one_object_must_be) {
  unit_use u = falsely_shared();
  u.objects = {{0x1000, 128, "counters"}, {0x1080, 8, "unrelated"}};
  const std::string text = advice(u, judge(u));
  EXPECT_THAT(text, HasSubstr("one object, counters"));
  EXPECT_THAT(text, HasSubstr("4096 bytes apart"));
  EXPECT_THAT(text, HasSubstr("or use release consistency"));
}

TEST(sharing_advice, parts_several_objects) {
  unit_use u = falsely_shared();
  u.objects = {{0x1040, 16, {}}, {0x1000, 16, {}}};
  ASSERT_EQ(objects_in(u, judge(u).of_nodes[0].used()).size(), 1u);
  EXPECT_EQ(objects_in(u, judge(u).of_nodes[0].used())[0].address, 0x1000u);
  EXPECT_THAT(advice(u, judge(u)), HasSubstr("2 objects: allocate those of different nodes apart"));
}

TEST(sharing_advice, does_not_offer_what_is_there) {
  unit_use u = falsely_shared();
  u.release = true;
  EXPECT_THAT(advice(u, judge(u)), Not(HasSubstr("or use release consistency")));
  EXPECT_THAT(advice(u, judge(u)), Not(HasSubstr("take units"))) << "none is smaller than a page";
}

TEST(sharing_advice, offers_the_largest_unit_that_parts_the_nodes) {
  unit_use u = falsely_shared();
  u.bytes = 65536;  // line 1 begins at 1024
  EXPECT_THAT(advice(u, judge(u)), Not(HasSubstr("take units"))) << "a page has both";
  u.nodes[1].writes = {};
  u.nodes[1].writes[words / 4] = 20;  // at 16 KiB
  EXPECT_THAT(advice(u, judge(u)), HasSubstr("take units of 16384 bytes"));
}

}  // namespace
}  // namespace quire::sharing::sharing_test
