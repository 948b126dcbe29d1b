// SPDX-License-Identifier: BSD-3-Clause
// Units that keep their right from interval to interval (src/protocol/release/kept.cpp): writes that no fault tells, patches from homes to
// copies that are being written, among requests, notices, locks, pins, pushes and homes that move. QUIRE_SIM_SEED=<seed> runs only that one.
#include <gmock/gmock.h>

#include <iostream>

#include "release_programs.hpp"
#include "sim/bare/release_explorer.hpp"

namespace quire::sim {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using word = release_cluster::word;

release_plan keeping(std::uint64_t seed, unsigned nodes) {
  release_plan plan = make_release_plan(seed, nodes);
  plan.shape.keeps = true;
  if (plan.shape.update == release::updates::never) plan.shape.update = release::updates::always;
  plan.pins = static_cast<unsigned>(seed % 3);
  plan.pushes = seed % 5 == 0;
  return plan;
}

struct extent {
  unsigned nodes, seeds;
};

class release_keep : public testing::TestWithParam<extent> {};

TEST_P(release_keep, race_free_programs_see_the_last_write) {
  const extent e = GetParam();
  std::uint64_t kept = 0;
  release_cluster::counters total;
  const auto all = seeds(1, e.seeds);
  for (const std::uint64_t seed : all) {
    release_run run(keeping(seed, e.nodes));
    ASSERT_EQ(run.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    total.patches += run.nodes().count().patches;
    total.merges += run.nodes().count().merges;
    for (unsigned n = 0; n < e.nodes; ++n) kept += run.nodes().machine(n).count().kept;
  }
  EXPECT_TRUE(all.size() != e.seeds || (kept > e.seeds && total.patches > e.seeds)) << "too little was kept to mean anything";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << kept << " times kept, " << total.patches << " patches, " << total.merges
            << " merges\n";
}

INSTANTIATE_TEST_SUITE_P(nodes, release_keep, testing::Values(extent{2, 600}, extent{3, 600}, extent{5, 300}, extent{8, 100}),
                         [](const auto& info) { return "of_" + std::to_string(info.param.nodes); });

// ---- Small programs, in every order of what happens at different nodes

release_options both(unsigned nodes) {
  release_options o;
  o.nodes = nodes;
  o.units = 1;
  o.words = 3;
  o.placement = model::placement::node;
  o.update = release::updates::always;
  o.keeps = true;
  return o;
}

void explore(const release_options& o, const release_explorer::scenario& make, std::uint64_t at_least, bool released = true) {
  release_explorer x(o, make, 40'000);
  const release_exploration found = x.run(released);
  EXPECT_EQ(found.failure, "");
  EXPECT_GE(found.states, at_least) << "the program no longer leads to what it was written for";
  std::cout << found.states << " states, " << found.ends << " ends" << (found.complete ? ", all" : ", cut off") << "\n";
}

/// As at the edge of two parts of a grid: each node writes a word of its own in each epoch, then reads the others'.
release_program edge(release_cluster& c, std::size_t self, word mine, word words, unsigned epochs) {
  for (unsigned i = 0; i < epochs; ++i) {
    co_await c.write(self, mine, i * 2 + 1);
    co_await c.call(self, sync::operation::barrier_wait, 0);
    for (word w = 0; w < words; ++w) co_await c.read(self, w);
    co_await c.call(self, sync::operation::barrier_wait, 0);
  }
}

TEST(release_keep_exhaustive, a_unit_that_two_nodes_write) {
  explore(both(2), [](release_cluster& c) {
    for (unsigned n = 0; n < 2; ++n) {
      const std::size_t t = c.add_thread(n);
      c.begin(t, edge(c, t, n, 2, 4));
    }
  }, 300);
}

TEST(release_keep_exhaustive, a_unit_that_three_nodes_write) {
  explore(both(3), [](release_cluster& c) {
    for (unsigned n = 0; n < 3; ++n) {
      const std::size_t t = c.add_thread(n);
      c.begin(t, edge(c, t, n, 3, 2));
    }
  }, 3'000);
}

/// The home and a copy, kept, and words that a lock hands on.
release_program handed_on(release_cluster& c, std::size_t self, std::uint64_t mutex, word mine, unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    co_await c.write(self, mine, i + 1);
    co_await c.call(self, sync::operation::mutex_lock, mutex);
    co_await c.write(self, 2, co_await c.read(self, 2) + 1);
    co_await c.call(self, sync::operation::mutex_unlock, mutex);
  }
}

TEST(release_keep_exhaustive, a_word_under_a_lock_between_two_that_are_not) {
  explore(both(2), [](release_cluster& c) {
    const std::uint64_t m = c.make_object(1, sync::operation::mutex_create);
    for (unsigned n = 0; n < 2; ++n) {
      const std::size_t t = c.add_thread(n);
      c.begin(t, handed_on(c, t, m, n, 3));
    }
  }, 300, false);
}

// ---- Do the checkers see?

/// What they say first, over seeds.
template <class F>
std::string verdict(F&& break_it) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    release_run run(keeping(seed, 2 + static_cast<unsigned>(seed % 4)));
    break_it(run.nodes());
    if (std::string failure = run.run(); !failure.empty()) return failure.substr(0, failure.find('\n'));
  }
  return {};
}

const auto an_old_value = AnyOf(HasSubstr("a thread reads"), HasSubstr("works on an old value"), HasSubstr("content is wrong at the end"));

TEST(release_keep_mutation, writes_that_the_comparison_misses) {
  EXPECT_THAT(verdict([](release_cluster& c) { c.tamper().kept_units_look_unwritten = true; }), an_old_value);
}
TEST(release_keep_mutation, twins_that_miss_what_others_wrote) {
  EXPECT_THAT(verdict([](release_cluster& c) { c.tamper().patches_miss_twins = true; }), an_old_value);
}
TEST(release_keep_mutation, patches_that_count_though_some_before_are_missing) {
  EXPECT_THAT(verdict([](release_cluster& c) {
    c.tamper().after = [&c](unsigned node, unsigned region, std::uint64_t unit, const model::message* m) {
      auto& s = c.unit(node, region, unit);
      const bool dropped = m != nullptr && m->kind == model::message_kind::patch && s.valid != 0 && s.source == m->from && s.version < m->a;
      if (dropped) s.version = static_cast<std::uint32_t>(m->a);
    };
  }), an_old_value);
}
TEST(release_keep_mutation, content_that_is_later_than_the_twin) {
  EXPECT_THAT(verdict([](release_cluster& c) { c.tamper().sends_what_is_not_told = true; }), an_old_value);
}
TEST(release_keep_mutation, patches_that_do_not_arrive) {  // are not missed: an update is an offer
  EXPECT_EQ(verdict([](release_cluster& c) {
    c.tamper().leaves = [](model::node_id, model::node_id, const model::message& m) { return m.kind != model::message_kind::patch; };
  }), "");
}

/// Seeds that found something. A home kept a unit when its partner's diff came, with writes in the twin that no interval had told, and copies
/// as of the interval before took an empty patch for them (405). A home kept a unit of which nobody had a copy: what it released
/// then was not told, and came in a later patch to who had read it, and overwritten it (12, 817).
TEST(release_keep_pinned, seeds_that_found_something) {
  const std::pair<std::uint64_t, unsigned> pinned[] = {{405, 5}, {12, 2}, {817, 3}, {3'549, 5}};
  for (const auto& [seed, nodes] : pinned) {
    EXPECT_EQ(release_run(keeping(seed, nodes)).run(), "") << seed;
  }
}

}  // namespace
}  // namespace quire::sim
