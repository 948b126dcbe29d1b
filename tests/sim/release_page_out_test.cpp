// Nodes that are short of memory (page-out) under release consistency: see sequential_page_out_test.
#include <iostream>

#include "release_programs.hpp"

namespace quire::sim {
namespace {

struct extent {
  unsigned nodes, seeds;
};

class release_page_out : public testing::TestWithParam<extent> {};

TEST_P(release_page_out, race_free_programs_see_the_last_write) {
  const extent e = GetParam();
  std::uint64_t gone = 0, dropped = 0;
  const auto all = seeds(1, e.seeds);
  for (const std::uint64_t seed : all) {
    release_plan plan = make_release_plan(seed, e.nodes);
    plan.shape.pages_out = true;
    plan.shape.migrates = false;
    release_run run(plan);
    ASSERT_EQ(run.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    gone += run.nodes().count().paged_out;
    for (unsigned n = 0; n < e.nodes; ++n) dropped += run.nodes().machine(n).count().copies_dropped;
  }
  EXPECT_TRUE(all.size() != e.seeds || dropped > e.seeds) << "too little was given up to mean anything";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << gone << " frames given back, " << dropped << " copies\n";
}

INSTANTIATE_TEST_SUITE_P(nodes, release_page_out, testing::Values(extent{2, 300}, extent{3, 300}, extent{8, 60}),
                         [](const auto& info) { return "of_" + std::to_string(info.param.nodes); });

}  // namespace
}  // namespace quire::sim
