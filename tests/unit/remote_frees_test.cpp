// SPDX-License-Identifier: BSD-3-Clause
// When frees of other nodes' memory leave, and which of them are seen to be wrong before.
#include <gtest/gtest.h>

#include <vector>

#include "heap/remote_frees.hpp"

namespace quire::heap::remote_frees_test {
namespace {

using outcome = remote_frees::outcome;

std::vector<unsigned> due(remote_frees& f, std::uint64_t now_ns) {
  std::vector<unsigned> nodes;
  f.for_each([&](unsigned node) { nodes.push_back(node); }, now_ns);
  return nodes;
}

TEST(remote_frees, leave_when_a_batch_is_full_in_the_order_of_the_calls) {
  remote_frees f(3, 4);
  for (const std::uint64_t address : {64u, 16u, 32u}) EXPECT_EQ(f.add(2, address, 5), outcome::kept);
  EXPECT_EQ(f.add(1, 64, 5), outcome::kept) << "another node's batch is not filled by it";
  EXPECT_EQ(f.add(2, 48, 5), outcome::full);
  EXPECT_EQ(f.waiting(), 5u);
  EXPECT_EQ(f.take(2), (std::vector<std::uint64_t>{64, 16, 32, 48}));
  EXPECT_EQ(f.waiting(), 1u);
  EXPECT_TRUE(f.take(2).empty());
  EXPECT_EQ(f.take(1), std::vector<std::uint64_t>{64});
}

TEST(remote_frees, are_refused_while_the_first_of_the_same_memory_waits) {
  remote_frees f(2, 3);
  EXPECT_EQ(f.add(1, 16, 0), outcome::kept);
  EXPECT_EQ(f.add(1, 16, 0), outcome::twice);
  EXPECT_EQ(f.waiting(), 1u);
  EXPECT_TRUE(f.contains(1, 16));
  EXPECT_FALSE(f.contains(0, 16));
  (void)f.take(1);
  EXPECT_FALSE(f.contains(1, 16));
  EXPECT_EQ(f.add(1, 16, 0), outcome::kept) << "what has left is the owner's to judge";
}

TEST(remote_frees, leave_when_the_oldest_has_waited_long_enough) {
  constexpr std::uint64_t limit = remote_frees::longest_wait_ns;
  remote_frees f(4, 8);
  (void)f.add(3, 16, 100);
  (void)f.add(1, 16, 200);
  (void)f.add(3, 32, limit);  // a younger one does not put the first off
  EXPECT_TRUE(due(f, 99 + limit).empty());
  EXPECT_EQ(due(f, 100 + limit), std::vector<unsigned>{3});
  EXPECT_EQ(due(f, 200 + limit), (std::vector<unsigned>{1, 3}));
  (void)f.take(3);
  (void)f.add(3, 48, 300 + limit);
  EXPECT_EQ(due(f, 300 + limit), std::vector<unsigned>{1}) << "a batch that has left takes its age along";
}

TEST(remote_frees, leave_all_at_once_when_asked) {
  remote_frees f(5, remote_frees::most);
  for (unsigned node = 0; node < 5; node += 2) (void)f.add(node, 16, 1000);
  std::vector<unsigned> nodes;
  f.for_each([&](unsigned node) {
    nodes.push_back(node);
    EXPECT_EQ(f.take(node).size(), 1u);
  });
  EXPECT_EQ(nodes, (std::vector<unsigned>{0, 2, 4}));
  EXPECT_EQ(f.waiting(), 0u);
}

TEST(remote_frees, are_confirmed_by_the_nodes_that_were_told_of_some) {
  remote_frees f(4, 2);
  (void)f.add(1, 16, 0);
  EXPECT_TRUE(f.take_unconfirmed().empty()) << "nothing has left";
  (void)f.add(3, 16, 0);
  (void)f.take(3);
  (void)f.take(0);  // there was nothing
  EXPECT_EQ(f.take_unconfirmed(), std::vector<unsigned>{3});
  EXPECT_TRUE(f.take_unconfirmed().empty());
}

TEST(remote_frees, of_one_each_are_full_at_once) {
  remote_frees f(2, 1);
  EXPECT_EQ(f.add(1, 16, 0), outcome::full);
  EXPECT_EQ(f.take(1).size(), 1u);
}

}  // namespace
}  // namespace quire::heap::remote_frees_test
