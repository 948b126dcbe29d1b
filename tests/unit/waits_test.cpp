// SPDX-License-Identifier: BSD-3-Clause
// The sentences about a job that waits, from what its nodes have told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "waits/report.hpp"

namespace quire::waits::waits_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

record waits_for(std::uint32_t thread, std::uint64_t object, const char* call = "quire_mutex_lock()",
                 what kind = what::object) {
  record r;
  r.kind = kind;
  r.thread = thread;
  r.object = object;
  r.waited_ms = 12345;
  r.set_name(call);
  if (kind == what::object) r.set_label(("lock " + std::to_string(object)).c_str());
  return r;
}
record holds(std::uint32_t thread, std::uint64_t object) {
  record r = waits_for(thread, object);
  r.kind = what::holds;
  return r;
}
record has_come(std::uint64_t barrier, std::uint16_t node, std::uint32_t number, std::uint32_t of) {
  record r;
  r.kind = what::arrivals;
  r.object = barrier;
  r.node = node;
  r.number = number;
  r.of = of;
  return r;
}
record in_call_of_all(std::uint32_t thread, const char* call) { return waits_for(thread, 0, call, what::all_nodes); }

std::vector<node_report> job(std::vector<std::vector<record>> records) {
  std::vector<node_report> nodes;
  for (auto& r : records) {
    // As they travel.
    nodes.push_back({"node " + std::to_string(nodes.size()), "", false, unpack(pack(r))});
  }
  return nodes;
}

TEST(waits, name_who_holds_the_lock) {
  EXPECT_THAT(describe(job({{waits_for(3, 7)}, {holds(2, 7)}}), true),
              ElementsAre("node 0, thread 3: 12.3 s in quire_mutex_lock() for lock 7, which thread 2 of node 1 holds",
                          "node 1: no thread waits for anything of Quire"));
}

TEST(waits, find_the_circle_of_two_nodes) {
  const auto lines = describe(job({{waits_for(0, 1), holds(0, 2)}, {waits_for(4, 2), holds(4, 1)}}), true);
  EXPECT_EQ(lines[0],
            "deadlock: thread 0 of node 0 waits for lock 1, which thread 4 of node 1 holds; "
            "thread 4 of node 1 waits for lock 2, which thread 0 of node 0 holds");
  EXPECT_EQ(lines.size(), 3u) << "and each wait once";
}

TEST(waits, find_each_circle_once_and_those_behind_it_are_not_in_it) {
  // Three in a circle, one that waits for one of them, and two others.
  const auto lines = describe(job({{waits_for(0, 1), holds(0, 3), waits_for(1, 3)},
                                   {waits_for(0, 2), holds(0, 1)},
                                   {waits_for(0, 3), holds(0, 2), waits_for(5, 11), holds(5, 10)},
                                   {waits_for(6, 10), holds(6, 11)}}),
                              true);
  std::vector<std::string> circles;
  for (const auto& line : lines)
    if (line.starts_with("deadlock")) circles.push_back(line);
  ASSERT_EQ(circles.size(), 2u);
  EXPECT_THAT(circles[0], HasSubstr("thread 0 of node 2 waits for lock 3, which thread 0 of node 0 holds"));
  EXPECT_THAT(circles[0], Not(HasSubstr("thread 1 of node 0")));
  EXPECT_THAT(circles[1], HasSubstr("thread 5 of node 2"));
}

TEST(waits, of_a_chain_are_no_circle) {
  const auto lines = describe(job({{waits_for(0, 1)}, {waits_for(0, 2), holds(0, 1)}, {holds(9, 2)}}), true);
  EXPECT_THAT(lines, Not(Contains(HasSubstr("deadlock"))));
}

TEST(waits, for_a_lock_of_several_readers_name_one_and_find_a_circle_through_another) {
  const auto lines =
      describe(job({{waits_for(0, 1), holds(0, 2)}, {holds(7, 1)}, {holds(8, 1), waits_for(8, 2)}}), true);
  EXPECT_THAT(lines[0], HasSubstr("deadlock: thread 0 of node 0"));
  EXPECT_THAT(lines, Contains(HasSubstr("which thread 7 of node 1 and 1 more hold")));
}

TEST(waits, for_all_nodes_name_those_that_have_not_come) {
  auto nodes =
      job({{in_call_of_all(0, "quire_barrier_wait()")}, {}, {in_call_of_all(1, "quire_barrier_wait()")}, {}, {}});
  nodes[3].dead = true;
  nodes[3].state = "has ended";
  nodes[4].state = "does not answer";
  const auto lines = describe(nodes, true);
  EXPECT_EQ(lines[0], "node 0, thread 0: 12.3 s in quire_barrier_wait(); nodes 1 and 4 have not come");
  EXPECT_THAT(lines, Contains("node 3 has ended"));
  EXPECT_THAT(lines, Contains("node 4 does not answer"));
}

TEST(waits, for_all_nodes_name_one_that_is_in_another_call) {
  const auto lines =
      describe(job({{in_call_of_all(0, "quire_barrier_wait()")}, {in_call_of_all(0, "quire_end()")}}), true);
  EXPECT_THAT(lines[0], HasSubstr("node 1 is in quire_end()"));
  EXPECT_THAT(lines[1], HasSubstr("node 0 is in quire_barrier_wait()"));
}

TEST(waits, at_a_barrier_of_threads_count_who_has_come) {
  const auto lines =
      describe(job({{waits_for(0, 5, "quire_barrier_wait()"), has_come(5, 0, 1, 4), has_come(5, 1, 2, 4)}}), true);
  EXPECT_THAT(lines[0], HasSubstr("; 3 of 4 have come: 1 of node 0, 2 of node 1"));
}

TEST(waits, of_many_threads_are_bounded) {
  std::vector<std::vector<record>> all(8);
  for (auto& node : all)
    for (std::uint32_t t = 0; t < 100; ++t) node.push_back(waits_for(t, t));
  const auto lines = describe(job(all), true, 50);
  EXPECT_EQ(lines.size(), 50u);
  EXPECT_EQ(lines.back(), "and 751 lines more");
}

TEST(waits, that_a_node_tells_alone_say_what_it_knows) {
  std::vector<node_report> nodes(3);
  nodes[1].name = "node 1";
  record r = waits_for(0, 9);
  r.node = 2;
  nodes[1].records = {r, in_call_of_all(1, "quire_reduce_i64()")};
  EXPECT_THAT(describe(nodes, false),
              ElementsAre("node 1, thread 0: 12.3 s in quire_mutex_lock() for lock 9, which node 2 keeps",
                          "node 1, thread 1: 12.3 s in quire_reduce_i64(), a call of all nodes"));
}

TEST(waits, that_are_no_records_are_none) {
  EXPECT_TRUE(unpack("").empty());
  EXPECT_TRUE(unpack("too short").empty());
  std::string bytes(sizeof(record) * 2 + 5, '\xff');
  const auto all = unpack(bytes);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(std::string(all[0].name).size(), sizeof all[0].name - 1) << "texts end";
}

}  // namespace
}  // namespace quire::waits::waits_test
