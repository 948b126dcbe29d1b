// SPDX-License-Identifier: BSD-3-Clause
// When a node that has passed the last barrier may go: src/watch/parting.hpp.
#include "watch/parting.hpp"

#include <gtest/gtest.h>

namespace quire::watch {
namespace {

constexpr auto is_child = [](unsigned node) { return node == 1 || node == 2; };

TEST(parting, waits_for_its_children_in_any_order) {
  parting p(4);
  EXPECT_FALSE(p.begun());
  p.on_gone(2);  // it has passed before this node
  EXPECT_FALSE(p.done());
  p.begin(is_child);
  EXPECT_TRUE(p.begun());
  EXPECT_FALSE(p.done());
  p.on_gone(3);  // nobody waits for it
  p.on_gone(2);  // and its connection ends
  EXPECT_FALSE(p.done());
  p.on_gone(1);
  EXPECT_TRUE(p.done());
  p.on_gone(1);
  EXPECT_TRUE(p.done());
}

TEST(parting, a_leaf_goes_at_once) {
  parting p(4);
  EXPECT_FALSE(p.done()) << "it has not passed";
  p.begin([](unsigned) { return false; });
  EXPECT_TRUE(p.done());
}

TEST(parting, a_number_of_no_node_is_nobody) {
  parting p(3);
  p.begin(is_child);
  p.on_gone(3);
  p.on_gone(~0u);
  EXPECT_FALSE(p.done());
}

}  // namespace
}  // namespace quire::watch
