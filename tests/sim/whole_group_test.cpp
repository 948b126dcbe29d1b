// SPDX-License-Identifier: BSD-3-Clause
// Groups of threads on whole nodes: several at a time, with memory of both consistencies between their meetings
// (sim/whole/group_job.hpp).
#include <gtest/gtest.h>

#include <string>

#include "sim/seeds.hpp"
#include "sim/whole/group_job.hpp"

namespace quire::whole::whole_group_test {
namespace {

class whole_groups : public testing::TestWithParam<unsigned> {};

TEST_P(whole_groups, hold_for_every_seed) {
  std::map<std::string, std::uint64_t> done;
  for (const std::uint64_t seed : sim::seeds(1, 150)) {
    group_job j({.seed = seed, .nodes = GetParam()});
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    for (const auto& [what, often] : j.done()) done[what] += often;
  }
  if (!sim::usual_seeds()) return;
  for (const char* const what : {"waits", "arrays", "values"}) EXPECT_GT(done[what], 100u) << what;
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_groups, testing::Values(1u, 2u, 3u, 5u, 12u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

TEST(whole_groups_many, nodes_at_once) {
  for (const std::uint64_t seed : sim::seeds(1, 3)) {
    group_job j({.seed = seed, .nodes = 80, .most_threads = 1, .most_groups = 2, .most_rounds = 4});
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
}

}  // namespace
}  // namespace quire::whole::whole_group_test
