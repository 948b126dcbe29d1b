// SPDX-License-Identifier: BSD-3-Clause
// The release protocol under random timing, on 1 to 70 nodes: programs without data races must see what sequential
// consistency would show them. A failure prints its seed; QUIRE_SIM_SEED=<seed> runs only that one.
#include <iostream>

#include "release_programs.hpp"

namespace quire::sim {
namespace {

struct extent {
  unsigned nodes, seeds;
};

class release_random : public testing::TestWithParam<extent> {};

TEST_P(release_random, race_free_programs_see_the_last_write) {
  const extent e = GetParam();
  release_cluster::counters total;
  std::uint64_t moves = 0, stale = 0, packed = 0, invalidations = 0, events = 0, early = 0;
  const auto all = seeds(1, e.seeds);
  for (const std::uint64_t seed : all) {
    release_run r(make_release_plan(seed, e.nodes));
    ASSERT_EQ(r.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    total.reads += r.nodes().count().reads;
    total.faults += r.nodes().count().faults;
    total.diffs += r.nodes().count().diffs;
    total.updates += r.nodes().count().updates;
    total.forwarded_diffs += r.nodes().count().forwarded_diffs;
    events += r.simulation().net().steps();
    for (unsigned n = 0; n < e.nodes; ++n) {
      moves += r.nodes().machine(n).count().home_moves;
      stale += r.nodes().machine(n).count().stale_replies;
      invalidations += r.nodes().machine(n).count().invalidations;
      packed += r.nodes().node(n).known().packed();
      early += r.nodes().node(n).count().early_diffs;
    }
  }
  EXPECT_TRUE(!usual_seeds() || e.nodes == 1 || e.nodes > 64 || total.updates > all.size()) << "too few to mean anything";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << total.reads << " reads, " << total.faults << " faults, "
            << total.updates << " updates, " << total.diffs << " diffs (" << early << " early, " << total.forwarded_diffs << " forwarded), " << invalidations
            << " invalidations, " << moves << " home moves, " << stale << " stale replies, " << packed << " times packed, "
            << events << " events\n";
}

/// Twins of a unit alone are more than the limit.
TEST_P(release_random, the_same_with_units_larger_than_the_limit_of_twins) {
  const extent e = GetParam();
  std::uint64_t early = 0;
  const auto all = seeds(1, e.seeds / 4);
  for (const std::uint64_t seed : all) {
    release_plan p = make_release_plan(seed, e.nodes);
    p.shape.twin_pages = 2u << seed % 9;
    p.shape.twin_limit = 1 + seed % 4;
    release_run r(p);
    ASSERT_EQ(r.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    for (unsigned n = 0; n < e.nodes; ++n) early += r.nodes().node(n).count().early_diffs;
  }
  EXPECT_TRUE(!usual_seeds() || e.nodes == 1 || e.nodes > 8 || early > all.size()) << "too few to mean anything";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << early << " early diffs\n";
}

/// Written units are found by scans; homes of units that nodes have used go with their content.
TEST_P(release_random, the_same_where_writes_are_found_by_scans) {
  const extent e = GetParam();
  std::uint64_t moves = 0, faults = 0, diffs = 0;
  const auto all = seeds(1, e.seeds / 2);
  for (const std::uint64_t seed : all) {
    release_plan p = make_release_plan(seed, e.nodes);
    p.shape.scans = true;
    release_run r(p);
    ASSERT_EQ(r.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    faults += r.nodes().count().faults;
    diffs += r.nodes().count().diffs;
    for (unsigned n = 0; n < e.nodes; ++n) moves += r.nodes().machine(n).count().home_moves;
  }
  EXPECT_TRUE(!usual_seeds() || e.nodes == 1 || (moves > all.size() / 4 && diffs > all.size())) << "too few to mean anything";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << faults << " faults, " << diffs << " diffs, " << moves << " home moves\n";
}

/// Every second phase one node writes alone, a few nodes take turns, and messages are late.
TEST_P(release_random, homes_that_come_back_to_where_they_were) {
  const extent e = GetParam();
  std::uint64_t moves = 0, forwarded = 0, back = 0;
  const auto all = seeds(1, e.seeds / 2);
  for (const std::uint64_t seed : all) {
    release_plan p = make_rotating_plan(seed, e.nodes);
    p.shape.pages_out = e.nodes > 1 && seed % 8 == 0;
    release_run r(p);
    ASSERT_EQ(r.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    forwarded += r.nodes().count().forwarded_diffs;
    for (unsigned n = 0; n < e.nodes; ++n) {
      const release::machine& m = r.nodes().machine(n);
      moves += m.count().home_moves;
      for (std::uint64_t u = 0; u < m.units(); ++u) back += m.is_home(u) && m.unit(u).was_home != 0 ? 1 : 0;
    }
  }
  EXPECT_TRUE(!usual_seeds() || e.nodes == 1 || all.size() < 20 || (moves > all.size() && back > all.size() / 8)) << "too few to mean anything";
  std::cout << e.nodes << " nodes, " << all.size() << " seeds: " << moves << " home moves, " << back << " homes where they had been before, "
            << forwarded << " diffs passed on\n";
}

/// Seeds that found something: what, is told by the charts and by the history of the protocol.
TEST(release_pinned, seeds_that_found_something) {
  const std::pair<std::uint64_t, unsigned> pinned[] = {{12, 2}, {43, 8}, {11'388, 3}};
  for (const auto& [seed, nodes] : pinned) {
    release_plan p = make_release_plan(seed, nodes);
    p.shape.update = release::updates::never;
    release_run r(p);
    EXPECT_EQ(r.run(), "") << seed;
  }
}

/// Seeds that found something. A home took the copy of the one before for good while its own last diff was on the way there, and went back without
/// its content later: the write was lost.
TEST(release_random_pinned, seeds_that_found_something) {
  EXPECT_EQ(release_run(make_release_plan(25'288, 2)).run(), "");
  EXPECT_EQ(release_run(make_rotating_plan(5'958, 2)).run(), "");
}

INSTANTIATE_TEST_SUITE_P(nodes, release_random,
                         testing::Values(extent{1, 50}, extent{2, 600}, extent{3, 600}, extent{5, 300}, extent{8, 150},
                                         extent{12, 60}, extent{64, 6}, extent{70, 4}),
                         [](const auto& info) { return "of_" + std::to_string(info.param.nodes); });

}  // namespace
}  // namespace quire::sim
