// SPDX-License-Identifier: BSD-3-Clause
#include "tools/short_name.hpp"

#include <gtest/gtest.h>

namespace {

using quire::tools::short_name;

TEST(short_name, has_no_arguments) {
  EXPECT_EQ(short_name("main"), "main");
  EXPECT_EQ(short_name("solve(double*, int)"), "solve");
  EXPECT_EQ(short_name("heat::grid<double, 3>::at(int) const"), "heat::grid::at");
  EXPECT_EQ(short_name("(anonymous namespace)::work(void*)"), "work");
}

TEST(short_name, of_a_lambda_is_that_of_its_function) {
  EXPECT_EQ(short_name("main::{lambda()#1}::operator()() const"), "main::{lambda}");
  EXPECT_EQ(short_name("main::{lambda(int)#2}::operator()(int) const"), "main::{lambda}");
  EXPECT_EQ(short_name("solve(double*, int)::{lambda(int, std::function<void (int)>)#1}::operator()(int, "
                       "std::function<void (int)>) const"),
            "solve::{lambda}");
  EXPECT_EQ(short_name("(anonymous namespace)::run(int)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() "
                       "const"),
            "run::{lambda}");
}

}  // namespace
