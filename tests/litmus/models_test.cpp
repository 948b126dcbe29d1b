// SPDX-License-Identifier: BSD-3-Clause
// The models that judge the litmus tests say what the literature says of them.
#include "models.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace quire::test::litmus {
namespace {

const shape& shape_of(const std::string& name) {
  return *std::find_if(shapes().begin(), shapes().end(), [&](const shape& s) { return name == s.name; });
}
/// Whether a model allows an outcome whose registers (or, without registers, whose variables) are `values`.
bool allows(model under, const std::string& name, const std::vector<int>& values) {
  const shape& test = shape_of(name);
  const std::size_t from = test.registers == 0 ? max_registers : 0;
  for (const outcome& o : allowed(test, under)) {
    bool same = true;
    for (std::size_t i = 0; i < values.size(); ++i) same &= o[from + i] == values[i];
    if (same) return true;
  }
  return false;
}

TEST(litmus_models, sequential_consistency_forbids_every_relaxed_outcome) {
  EXPECT_FALSE(allows(model::sequential, "store_buffering", {0, 0}));
  EXPECT_FALSE(allows(model::sequential, "message_passing", {1, 0}));
  EXPECT_FALSE(allows(model::sequential, "load_buffering", {1, 1}));
  EXPECT_FALSE(allows(model::sequential, "coherence", {2, 1}));
  EXPECT_FALSE(allows(model::sequential, "coherence", {1, 0}));
  EXPECT_FALSE(allows(model::sequential, "iriw", {1, 0, 1, 0}));
  EXPECT_FALSE(allows(model::sequential, "two_plus_two_writes", {1, 1}));
}

TEST(litmus_models, sequential_consistency_allows_the_others) {
  for (const auto& values : {std::vector{0, 1}, {1, 0}, {1, 1}})
    EXPECT_TRUE(allows(model::sequential, "store_buffering", values));
  for (const auto& values : {std::vector{0, 0}, {0, 1}, {1, 1}})
    EXPECT_TRUE(allows(model::sequential, "message_passing", values));
  for (const auto& values : {std::vector{0, 0}, {0, 1}, {1, 0}})
    EXPECT_TRUE(allows(model::sequential, "load_buffering", values));
  for (const auto& values : {std::vector{1, 2}, {2, 1}, {2, 2}})
    EXPECT_TRUE(allows(model::sequential, "two_plus_two_writes", values));
  EXPECT_EQ(allowed(shape_of("iriw"), model::sequential).size(), 15u);
}

TEST(litmus_models, tso_adds_store_buffering_and_nothing_else) {
  EXPECT_TRUE(allows(model::tso, "store_buffering", {0, 0}));
  for (const shape& test : shapes()) {
    const bool same = allowed(test, model::tso) == allowed(test, model::sequential);
    EXPECT_EQ(same, test.name != std::string("store_buffering")) << test.name;
  }
}

TEST(litmus_models, coherence_alone_allows_what_one_variable_does_not_show) {
  for (const auto& [name, values] : {std::pair{"store_buffering", std::vector{0, 0}},
                                     {"message_passing", {1, 0}},
                                     {"load_buffering", {1, 1}},
                                     {"iriw", {1, 0, 1, 0}},
                                     {"two_plus_two_writes", {1, 1}}})
    EXPECT_TRUE(allows(model::coherent, name, values)) << name;
  EXPECT_FALSE(allows(model::coherent, "coherence", {2, 1}));
  EXPECT_FALSE(allows(model::coherent, "coherence", {1, 0}));
}

TEST(litmus_models, under_a_lock_threads_come_one_after_the_other) {
  EXPECT_EQ(allowed(shape_of("store_buffering"), model::serial).size(), 2u);
  EXPECT_FALSE(allows(model::serial, "store_buffering", {1, 1}));
  EXPECT_FALSE(allows(model::serial, "coherence", {0, 1}));
}

}  // namespace
}  // namespace quire::test::litmus
