// SPDX-License-Identifier: BSD-3-Clause
// Whole nodes of which one or two die while threads of all of them use memory, locks and barriers, and the others go on
// (sim/whole/mourning.hpp).
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "core/change.hpp"
#include "core/pins.hpp"
#include "core/region_builder.hpp"
#include "core/unit_calls.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/mourning.hpp"

namespace quire::whole::whole_death_test {
namespace {

class whole_deaths : public testing::TestWithParam<unsigned> {};

using counts = std::map<std::string, std::uint64_t>;

void run_all(mourning_options how, counts& done) {
  for (const std::uint64_t seed : sim::seeds(1, 300)) {
    how.seed = seed;
    mourning m(how);
    const std::string wrong = m.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    for (const auto& [name, often] : m.done()) done[name] += often;
  }
  for (const auto& [name, often] : done) std::cout << often << " " << name << "; ";
  std::cout << "\n";
}

TEST_P(whole_deaths, lose_only_what_nobody_has) {
  counts done;
  run_all({.nodes = GetParam()}, done);
  if (!sim::usual_seeds()) return;
  for (const char* const what : {"lost units", "lost objects", "inherited locks", "barriers", "in vain"}) {
    EXPECT_GT(done[what], 20u) << what << ": too few to mean anything";
  }
}

TEST_P(whole_deaths, lose_nothing_that_is_on_two_nodes) {
  counts done;
  run_all({.nodes = GetParam(), .replicas = true}, done);
}

/// All nodes of a host die: nothing is lost, for content is on two hosts. Of three hosts two may die; if they do so at
/// the same time, what is lost stays lost.
TEST_P(whole_deaths, lose_nothing_that_is_on_two_hosts) {
  for (const unsigned host_nodes : {1u, 2u, 3u}) {
    if (host_nodes >= GetParam()) continue;
    counts done;
    run_all({.nodes = GetParam(), .replicas = true, .host_nodes = host_nodes}, done);
  }
}

/// One node leaves, or two: nothing of it is lost, and nobody hears of a death.
TEST_P(whole_deaths, lose_nothing_with_nodes_that_leave) {
  for (const bool replicas : {false, true}) {
    for (const unsigned leavers : {1u, 2u}) {
      counts done;
      run_all({.nodes = GetParam(), .replicas = replicas, .leavers = leavers, .deaths = false}, done);
      if (sim::usual_seeds()) {
        EXPECT_GT(done["leaves"], 250u) << "too few to mean anything";
      }
    }
  }
}

/// Nodes leave, and others die, or they die as they leave.
TEST_P(whole_deaths, lose_only_what_the_dead_had_while_nodes_leave) {
  for (const unsigned leavers : {1u, 2u}) {
    counts done;
    run_all({.nodes = GetParam(), .leavers = leavers}, done);
    if (sim::usual_seeds()) {
      EXPECT_GT(done["leaves"], 50u) << "too few to mean anything";
    }
  }
}

/// Content is on two nodes: an acknowledged write is there, or its unit is lost, as a death and a leave came
/// together.
TEST_P(whole_deaths, lose_nothing_acknowledged_while_a_node_leaves) {
  counts done;
  run_all({.nodes = GetParam(), .replicas = true, .leavers = 1}, done);
  if (!sim::usual_seeds()) return;
  EXPECT_GT(done["leaves"], 50u) << "too few to mean anything";
}

/// Nodes join while others work: nothing is lost by that, and nobody hears of a death. Some leave, too, and some of
/// those that have joined.
TEST_P(whole_deaths, lose_nothing_with_nodes_that_join) {
  for (const bool replicas : {false, true}) {
    counts done;
    run_all({.nodes = GetParam() + 1, .replicas = replicas, .joiners = 1, .deaths = false}, done);
    run_all({.nodes = GetParam() + 2, .replicas = replicas, .leavers = 1, .joiners = 2, .deaths = false}, done);
    if (!sim::usual_seeds()) continue;
    EXPECT_GT(done["joins"], 800u) << "too few to mean anything";
    EXPECT_GT(done["leaves"], 200u) << "too few to mean anything";
  }
}

/// Nodes join while others die or leave; those that join may die before, meanwhile and afterwards.
TEST_P(whole_deaths, lose_only_what_the_dead_had_while_nodes_join) {
  for (const unsigned leavers : {0u, 1u}) {
    counts done;
    run_all({.nodes = GetParam() + 2, .leavers = leavers, .joiners = 2}, done);
    if (sim::usual_seeds()) {
      EXPECT_GT(done["joins"], 300u) << "too few to mean anything";
    }
  }
}

/// Content is on two nodes: an acknowledged write is there whatever a death and a join have to do with each other.
TEST_P(whole_deaths, lose_nothing_acknowledged_while_a_node_joins) {
  counts done;
  run_all({.nodes = GetParam() + 1, .replicas = true, .joiners = 1}, done);
  if (!sim::usual_seeds()) return;
  EXPECT_GT(done["joins"], 200u) << "too few to mean anything";
}

/// Release consistency: what a survivor has been told is there, or the unit is lost.
TEST_P(whole_deaths, lose_nothing_that_was_told_under_release) {
  counts done;
  run_all({.nodes = GetParam(), .release = true}, done);
  if (!sim::usual_seeds()) return;
  for (const char* const what : {"lost units", "lost writes", "inherited locks", "barriers"}) {
    EXPECT_GT(done[what], 10u) << what << ": too few to mean anything";
  }
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_deaths, testing::Values(2u, 3u, 5u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

/// The second death comes while the others deal with the first; threads tell each other by atomic operations, too.
class whole_deaths_in_a_row : public testing::TestWithParam<unsigned> {};

TEST_P(whole_deaths_in_a_row, lose_nothing_that_was_told_under_release) {
  counts done;
  run_all({.nodes = GetParam(), .release = true, .in_a_row = true, .flags = true}, done);
  if (!sim::usual_seeds()) return;
  for (const char* const what : {"lost units", "lost writes", "inherited locks", "flags"}) {
    EXPECT_GT(done[what], 5u) << what << ": too few to mean anything";
  }
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_deaths_in_a_row, testing::Values(3u, 5u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

/// Units below a page: nodes die while others have, and wait for, some units of a page that they use as a whole
/// (core/minipages/whole_pages.hpp).
class whole_deaths_minipages : public testing::TestWithParam<unsigned> {};

void run_minipages(unsigned bytes, bool replicas) {
  counts done;
  for (const std::uint64_t seed : sim::seeds(1, bytes < 1024 ? 60 : 300)) {
    const unsigned natural = seed % 3 == 0 ? 20 : seed % 3 == 1 ? 80 : 100;
    mourning m({.seed = seed,
                .nodes = 2 + static_cast<unsigned>(seed / 3 % 3),
                .replicas = replicas,
                .minipage_bytes = bytes,
                .natural_percent = natural});
    const std::string wrong = m.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    for (const auto& [name, often] : m.done()) done[name] += often;
  }
  if (sim::usual_seeds() && !replicas) {
    EXPECT_GT(done["lost units"], 10u) << "too few to mean anything";
  }
}
TEST_P(whole_deaths_minipages, lose_only_what_nobody_has) { run_minipages(GetParam(), false); }
TEST_P(whole_deaths_minipages, lose_nothing_that_is_on_two_nodes) { run_minipages(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(bytes, whole_deaths_minipages, testing::Values(2048u, 1360u, 1024u, 256u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

/// A claimed page was mapped for writing though its content had just been saved: what was written then had no second
/// node.
TEST(whole_deaths_pinned, claims_of_pages_that_have_been_saved) {
  for (const unsigned bytes : {2048u, 256u}) {
    EXPECT_EQ(
        mourning({.seed = 2, .nodes = 2, .replicas = true, .minipage_bytes = bytes, .natural_percent = 100}).run(), "");
  }
}

/// No region changes its consistency in a job that goes on without nodes.
TEST(whole_deaths_refused, changes_of_consistency) {
  world_options o;
  o.net.nodes = 2;
  o.node.survives = true;
  world w(o);
  core::region_description about;
  about.id = 1;
  about.base = base_address;
  about.bytes = 1u << 20;
  about.consistency = QUIRE_SEQUENTIAL;
  w.add_region(about);
  about.id = 2;
  about.base += 1u << 21;
  about.consistency = QUIRE_RELEASE;
  w.add_region(about);
  w.start(0, [base = about.base](node& here) {
    EXPECT_EQ(here.core().changes.set_consistency(1, QUIRE_RELEASE).code(), QUIRE_UNSUPPORTED);
    EXPECT_EQ(here.core().changes.set_consistency(2, QUIRE_SEQUENTIAL).code(), QUIRE_UNSUPPORTED);
    int holder = 0;
    EXPECT_EQ(here.core().pins.acquire(base, 4096, -1, holder).code(), QUIRE_UNSUPPORTED);
    EXPECT_EQ(here.core().calls.push(base, 4096).code(), QUIRE_UNSUPPORTED);
    EXPECT_EQ(here.core().calls.produce(base, 4096, false).code(), QUIRE_UNSUPPORTED);
  });
  EXPECT_EQ(w.run(), "");
}

}  // namespace
}  // namespace quire::whole::whole_death_test
