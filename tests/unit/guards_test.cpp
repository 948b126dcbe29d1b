// SPDX-License-Identifier: BSD-3-Clause
#include "core/guards.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(guards, keep_their_text_as_long_as_it_is) {
  quire::core::guards g;
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{127}, std::size_t{1000}}) {
    std::string why(length, 'w');
    if (length > 1) why.back() = '.';
    const std::uint64_t at = 4096 * (length + 1);
    ASSERT_TRUE(g.add(at, 4096, why.c_str()));
    const std::string wanted = why;
    why.assign(length, 'x');  // it is copied
    ASSERT_NE(g.find(at + 4095), nullptr);
    EXPECT_EQ(g.find(at + 4095), wanted);
    EXPECT_EQ(g.find(at), wanted);
  }
  EXPECT_EQ(g.find(4095), nullptr);
  EXPECT_EQ(g.find(std::uint64_t{4096} * 2000), nullptr);
}

TEST(guards, are_no_more_than_there_may_be) {
  quire::core::guards g;
  for (std::size_t i = 0; i < quire::core::guards::most; ++i) ASSERT_TRUE(g.add(8192 * i, 4096, "one"));
  EXPECT_FALSE(g.add(std::uint64_t{1} << 40, 4096, "one more"));
  EXPECT_EQ(g.find(std::uint64_t{1} << 40), nullptr);
}

}  // namespace
