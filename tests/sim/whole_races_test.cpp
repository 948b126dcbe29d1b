// SPDX-License-Identifier: BSD-3-Clause
// What whole nodes record of their intervals (QUIRE_CHECK=races), and what is found in it: nothing in programs without
// data races, whatever orders their writes, and all that is written for is a race in those that have one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "races/checker.hpp"
#include "races/recorder.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/actor.hpp"

namespace quire::whole::whole_races_test {
namespace {

using quire::races::findings;
using sync::operation;

constexpr std::uint64_t pages = 3, page_bytes = 4096;
constexpr std::uint64_t locked = base_address, own = base_address + 64, in_turn = base_address + 2048,
                        raced = base_address + page_bytes + 1024, counted = base_address + pages * page_bytes;

struct program {
  unsigned nodes = 2;
  bool races = false;
  core::configuration node{};
};

/// Own words beside each other's, words under a lock, words of one node from barrier to barrier, atomic operations.
void step(world& w, actor& a, const program& p, std::uint64_t mutex, std::uint64_t round) {
  const std::uint64_t page = a.draw.below(pages) * page_bytes;
  switch (a.draw.below(p.races ? 5 : 4)) {
    case 0:
      return a.write(own + page + a.node_number() * 8);
    case 1:
      a.must_call(operation::mutex_lock, mutex);
      (void)a.read(locked + page);
      a.write(locked + page);
      return a.must_call(operation::mutex_unlock, mutex);
    case 2:
      if (round % p.nodes == a.node_number()) a.write(in_turn + page + a.draw.below(16) * 8);
      return;
    case 3:
      (void)a.operate(counted, model::atomic_operation::add, 1);
      return;
    default:
      return a.here.store(raced, w.unique() * 0x0101'0101'0101'0101);
  }
}

findings run(std::uint64_t seed, const program& p) {
  world_options o;
  o.net.seed = seed;
  o.net.nodes = p.nodes;
  o.net.straggler_percent = seed % 3 == 0 ? 20 : 0;
  o.net.reads_late = seed % 2 == 0;
  o.node = p.node;
  o.node.races = true;
  o.node.move_homes = seed % 4 != 0;
  if (seed % 5 == 0) o.node.twin_bytes = page_bytes;
  if (seed % 7 == 0) o.node.notice_limit = 3;
  world w(o);
  core::region_description about;
  about.id = 1;
  about.base = base_address;
  about.bytes = (pages + 1) * page_bytes;
  about.consistency = QUIRE_RELEASE;
  about.placement = QUIRE_PLACE_MODULO;
  w.add_region(about);
  for (unsigned n = 0; n < p.nodes; ++n) w.at(n).core().races = quire::races::recorder::make("", {n, p.nodes});
  w.start(0, [&](node& first) {
    actor maker(w, first, 1, seed);
    const std::uint64_t mutex = maker.create(operation::mutex_create);
    for (unsigned n = 0; n < p.nodes; ++n) {
      w.start(n, [&, n, mutex](node& here) {
        actor a(w, here, 2, sim::mix(seed * 8 + n));
        for (std::uint64_t round = 0; round < 6 && !w.failed(); ++round) {
          for (unsigned i = 0; i < 8 && !w.failed(); ++i) step(w, a, p, mutex, round);
          a.must_call(operation::barrier_wait, 0);
        }
      });
    }
  });
  EXPECT_EQ(w.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
  quire::races::checker all(p.nodes);
  for (unsigned n = 0; n < p.nodes; ++n) {
    EXPECT_TRUE(all.feed(n, w.at(n).core().races->all()));
    all.end_of(n);
  }
  EXPECT_EQ(all.wants(), p.nodes);
  return all.found();
}

TEST(whole_races, none_where_writes_are_ordered_or_of_other_words) {
  std::uint64_t writes = 0, continued = 0;
  for (const unsigned nodes : {2u, 3u, 5u}) {
    for (const std::uint64_t seed : sim::seeds(1, 60)) {
      const findings f = run(seed, {.nodes = nodes});
      EXPECT_EQ(f.races.size(), 0u) << "replay: QUIRE_SIM_SEED=" << seed << ", nodes " << nodes;
      EXPECT_EQ(f.broken.size(), 0u) << "replay: QUIRE_SIM_SEED=" << seed << ", nodes " << nodes;
      writes += f.writes;
      continued += f.continued;
    }
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(writes, 1000u);
  EXPECT_GT(continued, 20u) << "content that came from others was compared too rarely to mean anything";
}

TEST(whole_races, where_a_word_is_written_without_order_and_there_alone) {
  std::uint64_t found = 0;
  for (const unsigned nodes : {2u, 3u}) {
    for (const std::uint64_t seed : sim::seeds(1, 60, sim::looks_for::rare_outcomes)) {
      for (const auto& race : run(seed, {.nodes = nodes, .races = true}).races) {
        EXPECT_GE(race.address, raced);
        EXPECT_LT(race.last, raced + 8);
        EXPECT_LT(race.first.node, race.second.node);
        ++found;
      }
    }
  }
  EXPECT_GT(found, 10u);
}

}  // namespace
}  // namespace quire::whole::whole_races_test
