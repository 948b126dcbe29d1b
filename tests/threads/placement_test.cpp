// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/threads/placement.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace quire::program {
namespace {

using kind = placement::kind;

/// Where threads go, one after the other, that all go on running.
std::vector<int> nodes_of(const char* how, int nodes, std::uint64_t count, int here = 0) {
  const auto p = placement_of(how);
  std::vector<int> running(static_cast<std::size_t>(nodes)), found;
  for (std::uint64_t i = 0; p && i < count; ++i) {
    found.push_back(
        node_of_new_thread(*p, nodes, here, i, [&](int node) { return running[static_cast<std::size_t>(node)]; }));
    ++running[static_cast<std::size_t>(found.back())];
  }
  return found;
}

TEST(placement, words) {
  EXPECT_EQ(placement_of("here")->how, kind::here);
  EXPECT_EQ(placement_of("least")->how, kind::least);
  EXPECT_EQ(placement_of("round")->block, 1u);
  EXPECT_EQ(placement_of("blocks:12")->block, 12u);
  for (const char* wrong :
       {"", "Least", "blocks", "blocks:", "blocks:0", "blocks:-1", "blocks:2x", "blocks:99999999999", " round"})
    EXPECT_FALSE(placement_of(wrong)) << wrong;
}

TEST(placement, the_least_loaded_node_and_that_of_main_last) {
  EXPECT_EQ(nodes_of("least", 4, 6), (std::vector{1, 2, 3, 0, 1, 2}));
  EXPECT_EQ(nodes_of("least", 1, 2), (std::vector{0, 0}));
  const std::vector<int> running{0, 3, 1, 1};
  EXPECT_EQ(node_of_new_thread(*placement_of("least"), 4, 1, 9,
                               [&](int node) { return running[static_cast<std::size_t>(node)]; }),
            0);
}

TEST(placement, in_turn) {
  EXPECT_EQ(nodes_of("round", 3, 4), (std::vector{0, 1, 2, 0}));
  EXPECT_EQ(nodes_of("blocks:2", 2, 6), (std::vector{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(nodes_of("here", 3, 3, 2), (std::vector{2, 2, 2}));
}

}  // namespace
}  // namespace quire::program
