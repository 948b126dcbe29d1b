// SPDX-License-Identifier: BSD-3-Clause
#include "program/loader/loading/plan.hpp"

#include <gtest/gtest.h>

namespace quire::program::load_plan_test {
namespace {

TEST(load_plan, other_nodes_find_what_the_first_has_placed) {
  load_plan plan;
  std::uint64_t next = 0x3c00'0000'0000;
  const std::uint64_t a = load_plan::name_of("/some/where/liba.so"), b = load_plan::name_of("libb.so");
  const std::uint64_t first = plan.place(a, 0x5000, next), second = plan.place(b, 0x9000, next);
  EXPECT_EQ(first, 0x3c00'0000'0000);
  EXPECT_GE(second, first + 0x5000);
  EXPECT_GE(next, second + 0x9000);
  bool taken[load_plan::most]{};
  EXPECT_EQ(plan.find(b, taken), second);
  EXPECT_EQ(plan.find(load_plan::name_of("/else/liba.so"), taken), first);
}

TEST(load_plan, two_files_of_one_name_keep_their_order) {
  load_plan plan;
  std::uint64_t next = 4096;
  const std::uint64_t name = load_plan::name_of("x/lib.so"), first = plan.place(name, 8192, next),
                      second = plan.place(name, 8192, next);
  bool taken[load_plan::most]{};
  EXPECT_EQ(plan.find(name, taken), first);
  EXPECT_EQ(plan.find(name, taken), second);
  EXPECT_EQ(plan.find(name, taken), 0);
}

TEST(load_plan, another_name_is_not_in_it) {
  load_plan plan;
  std::uint64_t next = 4096;
  ASSERT_NE(plan.place(load_plan::name_of("lib.so"), 8192, next), 0);
  bool taken[load_plan::most]{};
  EXPECT_EQ(plan.find(load_plan::name_of("lib.so.1"), taken), 0);
}

TEST(load_plan, what_has_no_room_is_left_to_the_kernel) {
  load_plan plan;
  std::uint64_t next = 4096;
  EXPECT_EQ(plan.place(1, 0, next), 0);
  EXPECT_EQ(plan.place(1, std::uint64_t{1} << 60, next), 0);
  for (std::uint32_t i = 0; i < load_plan::most; ++i) ASSERT_NE(plan.place(1, 4096, next), 0);
  EXPECT_EQ(plan.place(1, 4096, next), 0);
}

}  // namespace
}  // namespace quire::program::load_plan_test
