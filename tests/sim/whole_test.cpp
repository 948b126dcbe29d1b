// SPDX-License-Identifier: BSD-3-Clause
// Whole nodes, as they run in processes, in simulated time: several threads a node, regions of both consistencies, all that they can ask for
// at random (sim/whole/job.hpp).
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "sim/seeds.hpp"
#include "sim/whole/job.hpp"

namespace quire::whole {
namespace {

class whole : public testing::TestWithParam<unsigned> {};

TEST_P(whole, holds_for_every_seed) {
  std::map<std::string, std::uint64_t> done;
  for (const std::uint64_t seed : sim::seeds(1, 300)) {
    job j({.seed = seed, .nodes = GetParam()});
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    for (const auto& [what, often] : j.done()) done[what] += often;
  }
  if (!sim::usual_seeds()) return;
  for (const char* const what : {"pins", "atomics", "pushes", "blocks", "productions", "changes", "holds"}) EXPECT_GT(done[what], 20u) << what;
}

class whole_many : public testing::TestWithParam<unsigned> {};

TEST_P(whole_many, nodes_at_once) {
  for (const std::uint64_t seed : sim::seeds(1, GetParam() > 100 ? 1 : 5)) {
    job j({.seed = seed, .nodes = GetParam(), .most_threads = 1, .most_pages = 3, .most_phases = 2, .most_steps = 6});
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_many, testing::Values(17u, 64u, 1000u), [](const auto& info) { return "of_" + std::to_string(info.param); });

/// What a home's threads write under a pin is told by that home's next grant: it must not be another node's, to which the home has moved.
TEST(whole_pins, see_what_was_written_under_the_last_one) {
  for (const std::uint64_t seed : sim::seeds(1, 400)) {
    job j({.seed = seed, .nodes = 3, .most_pages = 2, .most_phases = 3, .most_steps = 20, .pins_percent = 50});
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

/// A copy that a home sends may be read from its memory for as long as it travels, and in a checked block must not have what the home's threads
/// write meanwhile: an overlap would be missed. (Once in 20 runs of contract_block_program under load.)
TEST(whole_blocks, find_all_overlaps) {
  for (const std::uint64_t seed : sim::seeds(1, 400)) {
    job j({.seed = seed, .nodes = 2, .most_pages = 2, .most_phases = 12, .most_steps = 4, .blocks = true});
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(nodes, whole, testing::Values(1u, 2u, 3u, 5u), [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::whole
