// SPDX-License-Identifier: BSD-3-Clause
// What a thread sees that reads while others write, without a word of synchronisation: old values, but of each word none that was
// never written, and none that is older than the one it saw before. Unless the transport reads content late: then a copy may have what is
// newer than the home's next update or patch, and lose it, or a part of it, until the one after that. At the end, behind a barrier, every
// node has the last value of every word, however that was. A thread of each node counts in words of its own, which lie
// beside those of other nodes, and all nodes meet at barriers meanwhile.
#include <gmock/gmock.h>

#include <iostream>

#include "sim/release_simulation.hpp"

namespace quire::sim {
namespace {

using word = release_cluster::word;

struct race {
  release_cluster& c;
  unsigned nodes = 0;
  unsigned columns = 0;  ///< words of each node
  unsigned rounds = 0;
  bool in_order = true;  ///< no word goes back
  std::vector<unsigned> running{};  ///< by node: threads that race
  std::vector<bool> over{};         ///< by node: they are to end
  [[nodiscard]] word words() const { return word{nodes} * columns; }
};

/// Steps that change low and high bits alike, so that a mixture of two values is neither.
constexpr std::uint64_t step = 0x10'0101;

release_program counts(race& r, std::size_t self, unsigned node) {
  for (std::uint64_t i = 1; !r.over[node]; ++i) {
    for (unsigned column = 0; column < r.columns; ++column) co_await r.c.write(self, word{column} * r.nodes + node, i * step);
    if (i % 3 == 0) co_await r.c.pause(self);
  }
  --r.running[node];
}

release_program looks(race& r, std::size_t self, unsigned node) {
  std::vector<std::uint64_t> seen(r.words());
  while (!r.over[node]) {
    for (word w = 0; w < r.words(); ++w) {
      const std::uint64_t found = co_await r.c.read_anything(self, w);
      if (!r.in_order) continue;
      if (found < seen[w]) {
        r.c.fail("node " + std::to_string(node) + " reads " + std::to_string(found / step) + " in word " + std::to_string(w) + ", after " +
                 std::to_string(seen[w] / step));
      }
      if (found % step != 0 || found > r.c.latest(w)) r.c.fail("a thread reads what was never written, in word " + std::to_string(w));
      seen[w] = found;
    }
  }
  --r.running[node];
}

release_program meets(race& r, std::size_t self, unsigned node) {
  for (unsigned i = 0; i < r.rounds; ++i) co_await r.c.call(self, sync::operation::barrier_wait, 0);
  r.over[node] = true;
  while (r.running[node] != 0) co_await r.c.pause(self);
  co_await r.c.call(self, sync::operation::barrier_wait, 0);
}

struct outcome_of_race {
  std::string failure{};
  std::uint64_t patches = 0, updates = 0, moves = 0;
};

template <class F>
outcome_of_race run_race(std::uint64_t seed, F&& break_it) {
  random draw(mix(seed ^ 0x7ace));
  network_options net;
  net.seed = seed;
  net.nodes = 2 + static_cast<unsigned>(draw.below(3));
  net.straggler_percent = draw.chance(30) ? 5 : 0;
  net.reads_late = draw.chance(50);
  release_options shape;
  shape.nodes = net.nodes;
  shape.units = 1 + static_cast<unsigned>(draw.below(3));
  const auto columns = 1 + static_cast<unsigned>(draw.below(3));
  shape.words = (net.nodes * columns + shape.units - 1) / shape.units + 1;
  shape.placement = draw.chance(50) ? model::placement::node : model::placement::modulo;
  shape.keeps = draw.chance(80);
  shape.update = draw.chance(50) ? release::updates::always : release::updates::learned;
  shape.migrates = draw.chance(80);
  shape.batches = draw.chance(70);
  release_simulation::timing times;
  times.think = draw.chance(50) ? 3'000 : 30'000;
  release_simulation run(net, shape, times);
  race r{run.nodes(), net.nodes, columns, 4 + static_cast<unsigned>(draw.below(20)), !net.reads_late,
         std::vector<unsigned>(net.nodes, 2), std::vector<bool>(net.nodes)};
  for (unsigned n = 0; n < net.nodes; ++n) {
    const std::size_t a = r.c.add_thread(n), b = r.c.add_thread(n), m = r.c.add_thread(n);
    r.c.begin(a, counts(r, a, n));
    r.c.begin(b, looks(r, b, n));
    r.c.begin(m, meets(r, m, n));
  }
  break_it(r.c);
  outcome_of_race o;
  o.failure = run.run(true);
  o.patches = r.c.count().patches;
  o.updates = r.c.count().updates;
  for (unsigned n = 0; n < net.nodes; ++n) o.moves += r.c.machine(n).count().home_moves;
  return o;
}

TEST(release_races, no_word_goes_back) {
  outcome_of_race all;
  const auto tried = seeds(1, 600);
  for (const std::uint64_t seed : tried) {
    const auto one = run_race(seed, [](release_cluster&) {});
    ASSERT_EQ(one.failure, "") << "replay: QUIRE_SIM_SEED=" << seed;
    all.patches += one.patches;
    all.updates += one.updates;
    all.moves += one.moves;
  }
  if (!usual_seeds()) return;
  EXPECT_GT(all.patches, 600u) << "too few to mean anything";
  EXPECT_GT(all.updates, 600u);
  EXPECT_GT(all.moves, 60u);
}

/// A home that moves to a node whose copy is still being read would give it, as the home's content, what threads write here meanwhile.
TEST(release_races_mutation, content_that_is_still_read_when_its_home_moves) {
  std::string failure;
  for (std::uint64_t seed = 4'800; seed <= 30'000 && failure.empty(); ++seed) {
    failure = run_race(seed, [](release_cluster& c) { c.tamper().content_leaves_unseen = true; }).failure;
    if (!failure.empty()) std::cout << "seed " << seed << "\n";
  }
  EXPECT_THAT(failure.substr(0, failure.find('\n')), testing::HasSubstr("content is wrong at the end"));
}

}  // namespace
}  // namespace quire::sim
