// SPDX-License-Identifier: BSD-3-Clause
// The sequential protocol under random timing, on 1 to 1,000 nodes: every seed draws a network, a placement and a program
// (sim/scenario.hpp). A failure prints its seed; QUIRE_SIM_SEED=<seed> runs only that one, as sim/README.md tells.
#include <gtest/gtest.h>

#include <iostream>

#include "sim/scenario.hpp"
#include "sim/seeds.hpp"

namespace quire::sim {
namespace {

struct extent {
  unsigned nodes;
  unsigned seeds;
  unsigned operations;  ///< of all threads together
};

class sequential_random : public testing::TestWithParam<extent> {};

TEST_P(sequential_random, holds_for_every_seed) {
  const extent e = GetParam();
  statistics total;
  const auto all = seeds(1, e.seeds);
  for (const std::uint64_t seed : all) {
    const scenario s = make_scenario(seed, e.nodes, e.operations);
    simulation run(s.net, s.shape, s.times, make_scripts(s));
    const result r = run.run();
    ASSERT_EQ(r.failure, "") << "replay: QUIRE_SIM_SEED=" << seed;
    total += r.count;
  }
  const bool replay = all.size() != e.seeds;
  EXPECT_TRUE(replay || e.nodes == 1 || total.faults > e.seeds) << "too little was shared to mean anything";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << total.operations << " operations, " << total.faults
            << " faults, " << total.messages << " messages, " << total.events << " events; losses " << total.losses
            << ", holds " << total.holds << ", pins " << total.pins << ", given up " << total.given_up
            << ", most faults of one access " << total.most_faults << "\n";
}

INSTANTIATE_TEST_SUITE_P(nodes, sequential_random,
                         testing::Values(extent{1, 100, 40}, extent{2, 8'000, 60}, extent{3, 8'000, 90}, extent{8, 4'000, 160},
                                         extent{64, 200, 800}, extent{65, 200, 800}, extent{200, 40, 1'000},
                                         extent{1'000, 6, 3'000}),
                         [](const auto& info) { return "of_" + std::to_string(info.param.nodes); });

TEST(sequential_replay, same_seed_same_run) {
  for (const std::uint64_t seed : {7u, 8u, 9u}) {
    const scenario s = make_scenario(seed, 8, 200);
    simulation first(s.net, s.shape, s.times, make_scripts(s)), second(s.net, s.shape, s.times, make_scripts(s));
    const result a = first.run(), b = second.run();
    EXPECT_EQ(a.count.events, b.count.events);
    EXPECT_EQ(a.count.took, b.count.took);
    EXPECT_EQ(first.nodes().state().contents, second.nodes().state().contents);
  }
}

}  // namespace
}  // namespace quire::sim
