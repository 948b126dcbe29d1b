// SPDX-License-Identifier: BSD-3-Clause
// Pushes under release consistency, under all that the other random programs do: content that comes by the home's tree meets requests,
// updates, notices, pins, page-out and homes that move. QUIRE_SIM_SEED=<seed> runs only that one.
#include <gmock/gmock.h>

#include <iostream>

#include "release_programs.hpp"

namespace quire::sim {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

release_plan pushing(std::uint64_t seed, unsigned nodes) {
  release_plan plan = make_release_plan(seed, nodes);
  plan.pushes = true;
  plan.rotates = false;
  plan.pins = static_cast<unsigned>(seed % 3);
  plan.shape.pages_out = seed % 4 == 0;
  return plan;
}

struct extent {
  unsigned nodes, seeds;
};

class release_push : public testing::TestWithParam<extent> {};

TEST_P(release_push, race_free_programs_see_the_last_write) {
  const extent e = GetParam();
  std::uint64_t pushes = 0, taken = 0, updates = 0;
  const auto all = seeds(1, e.seeds);
  for (const std::uint64_t seed : all) {
    release_run run(pushing(seed, e.nodes));
    ASSERT_EQ(run.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    pushes += run.nodes().count().pushes;
    taken += run.nodes().count().spreads_taken;
    updates += run.nodes().count().updates;
  }
  EXPECT_TRUE(all.size() != e.seeds || (taken > e.seeds && updates > e.seeds)) << "too little was pushed to mean anything";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << pushes << " pushes, " << taken << " copies by them, " << updates
            << " updates\n";
}

/// The worst for what comes unasked: homes go with their content, which is read late, and with diffs in it that nobody has told of yet.
release_plan pushing_and_giving(std::uint64_t seed, unsigned nodes) {
  release_plan plan = pushing(seed, nodes);
  plan.shape.pages_out = plan.net.reads_late = true;
  plan.shape.units = 2;
  plan.shape.twin_limit = 1;
  plan.net.straggler_percent = 30;
  return plan;
}

TEST_P(release_push, homes_that_go_with_their_content_lose_nothing) {
  const extent e = GetParam();
  std::uint64_t given = 0, taken = 0;
  const auto all = seeds(1, e.seeds);
  for (const std::uint64_t seed : all) {
    release_run run(pushing_and_giving(seed, e.nodes));
    ASSERT_EQ(run.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    given += run.nodes().count().given;
    taken += run.nodes().count().spreads_taken;
  }
  EXPECT_TRUE(!usual_seeds() || (taken > e.seeds && given > e.seeds)) << "too little was pushed or given to mean anything";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << given << " homes given away, " << taken << " copies by pushes\n";
}

INSTANTIATE_TEST_SUITE_P(nodes, release_push, testing::Values(extent{2, 400}, extent{3, 400}, extent{8, 60}),
                         [](const auto& info) { return "of_" + std::to_string(info.param.nodes); });

// ---- Do the checkers see?

/// What the checkers say first of some seeds.
template <class F>
std::string verdict(std::uint64_t first_seed, F&& break_it) {
  for (std::uint64_t seed = first_seed; seed < first_seed + 20; ++seed) {
    release_plan plan = pushing(seed, 4 + static_cast<unsigned>(seed % 4));  // by way of others
    plan.shape.update = release::updates::always;
    plan.net.straggler_percent = 30;
    release_run run(plan);
    break_it(run.nodes());
    if (std::string failure = run.run(); !failure.empty()) return failure.substr(0, failure.find('\n'));
  }
  return {};
}

const auto an_old_value = AnyOf(HasSubstr("a thread reads"), HasSubstr("works on an old value"), HasSubstr("content is wrong at the end"));

TEST(release_push_mutation, content_that_is_taken_whatever_is_known) {
  EXPECT_THAT(verdict(1, [](release_cluster& c) { c.tamper().spreads_cover_all_news = true; }), an_old_value);
}

/// As it was once: a copy that was pushed could be replaced by an update from before. The first seed that shows it.
TEST(release_push_mutation, copies_that_were_pushed_and_take_updates) {
  constexpr std::uint64_t seed = 723;
  EXPECT_EQ(verdict(seed, [](release_cluster&) {}), "");
  EXPECT_THAT(verdict(seed, [](release_cluster& c) {
    c.tamper().after = [&c](unsigned node, unsigned region, std::uint64_t unit, const model::message*) {
      auto& s = c.unit(node, region, unit);
      if (s.touched != 0 && s.version == release::no_version) s.version = 0;
    };
  }), an_old_value);
}

/// As it was once: what a home had pushed came by way of others, to a node that had been home since and had given the content away, and the message
/// with it took what was pushed along. The first seed that shows it.
TEST(release_push_mutation, content_that_is_placed_where_a_message_reads_what_has_gone_with_the_home) {
  release_run run(pushing_and_giving(183, 8));
  EXPECT_EQ(run.run(), "");
  release_run broken(pushing_and_giving(183, 8));
  broken.nodes().tamper().after = [&c = broken.nodes()](unsigned node, unsigned region, std::uint64_t unit, const model::message*) {
    auto& s = c.unit(node, region, unit);
    if (s.touched != 0 && s.version == release::given_away) s.version = release::no_version;
  };
  EXPECT_THAT(broken.run(), an_old_value);
}

}  // namespace
}  // namespace quire::sim
