// SPDX-License-Identifier: BSD-3-Clause
// What whole nodes record of their intervals (QUIRE_CHECK=races), and what is found in it: nothing in programs without
// data races, whatever orders their writes, and all that is written for is a race in those that have one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "races/checker.hpp"
#include "races/recorder.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/actor.hpp"

namespace quire::whole::whole_races_test {
namespace {

using protocol::traced;
using quire::races::findings;
using sync::operation;

constexpr std::uint64_t pages = 3, page_bytes = 4096;
constexpr std::uint64_t locked = base_address, own = base_address + 64, in_turn = base_address + 2048,
                        raced = base_address + page_bytes + 1024, counted = base_address + pages * page_bytes;

struct program {
  unsigned nodes = 2;
  bool races = false;
  protocol::traced traced = protocol::traced::all;
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

world_options options_of(std::uint64_t seed, const program& p) {
  world_options o;
  o.net.seed = seed;
  o.net.nodes = p.nodes;
  o.net.straggler_percent = seed % 3 == 0 ? 20 : 0;
  o.net.reads_late = seed % 2 == 0;
  o.node = p.node;
  o.node.races = p.traced;
  o.node.move_homes = seed % 4 != 0;
  if (seed % 5 == 0) o.node.twin_bytes = page_bytes;
  if (seed % 7 == 0) o.node.notice_limit = 3;
  return o;
}

void prepare(world& w, const program& p) {
  core::region_description about;
  about.id = 1;
  about.base = base_address;
  about.bytes = (pages + 1) * page_bytes;
  about.consistency = QUIRE_RELEASE;
  about.placement = QUIRE_PLACE_MODULO;
  w.add_region(about);
  for (unsigned n = 0; n < p.nodes; ++n) w.at(n).core().races = quire::races::recorder::make("", {n, p.nodes});
}

findings end(world& w, const program& p, std::uint64_t seed) {
  EXPECT_EQ(w.run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
  quire::races::checker all(p.nodes);
  for (unsigned n = 0; n < p.nodes; ++n) {
    EXPECT_TRUE(all.feed(n, w.at(n).core().races->all()));
    all.end_of(n);
  }
  EXPECT_EQ(all.wants(), p.nodes);
  return all.found();
}

findings run(std::uint64_t seed, const program& p) {
  world w(options_of(seed, p));
  prepare(w, p);
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
  return end(w, p, seed);
}

/// Only barriers order writes. One node writes a page for some rounds by itself; then others write the same word of it
/// in one round, the second of which may write it alone before. In `raced` is whether that was so.
findings run_guests(std::uint64_t seed, const program& p, bool& two_wrote) {
  world w(options_of(seed, p));
  prepare(w, p);
  sim::random draw(seed);
  const unsigned owner = static_cast<unsigned>(draw.below(p.nodes));
  const std::uint64_t guests_from = draw.below(7);
  std::vector<std::vector<bool>> writes(10, std::vector<bool>(p.nodes));
  for (std::uint64_t round = 0; round < writes.size(); ++round)
    for (unsigned n = 0; n < p.nodes; ++n)
      writes[round][n] = draw.chance(n == owner ? 90 : round < guests_from ? 0 : 15);
  two_wrote = false;
  for (const auto& who : writes) two_wrote |= std::ranges::count(who, true) > 1;
  for (unsigned n = 0; n < p.nodes; ++n) {
    w.start(n, [&, n](node& here) {
      actor a(w, here, 2, sim::mix(seed * 8 + n));
      for (std::size_t round = 0; round < writes.size() && !w.failed(); ++round) {
        if (a.draw.chance(50)) w.sleep(a.draw.below(100'000));
        if (writes[round][n]) a.here.store(raced, w.unique() * 0x0101'0101'0101'0101);
        a.must_call(operation::barrier_wait, 0);
      }
    });
  }
  return end(w, p, seed);
}

TEST(whole_races, none_where_writes_are_ordered_or_of_other_words) {
  std::uint64_t writes = 0, continued = 0;
  for (const unsigned nodes : {2u, 3u, 5u}) {
    for (const std::uint64_t seed : sim::seeds(1, 60)) {
      const findings f = run(seed, {.nodes = nodes, .traced = seed % 2 == 0 ? traced::all : traced::shared});
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
      const traced how = seed % 2 == 0 ? traced::all : traced::shared;
      for (const auto& race : run(seed, {.nodes = nodes, .races = true, .traced = how}).races) {
        EXPECT_GE(race.address, raced);
        EXPECT_LT(race.last, raced + 8);
        EXPECT_LT(race.first.node, race.second.node);
        ++found;
      }
    }
  }
  EXPECT_GT(found, 10u);
}

/// Where barriers alone order writes, each race is told; or, of a page that one node had for itself, that nobody knows.
TEST(whole_races, none_is_lost_without_a_word) {
  std::uint64_t found = 0, unknown = 0;
  for (const traced how : {traced::all, traced::shared}) {
    for (const unsigned nodes : {2u, 3u}) {
      for (const std::uint64_t seed : sim::seeds(1, 150)) {
        bool two_wrote = false;
        const findings f = run_guests(seed, {.nodes = nodes, .traced = how}, two_wrote);
        const bool told = !f.races.empty(), says = f.unseen != 0;
        EXPECT_TRUE(!two_wrote || told || says) << "replay: QUIRE_SIM_SEED=" << seed << ", nodes " << nodes;
        EXPECT_TRUE(two_wrote || !told) << "replay: QUIRE_SIM_SEED=" << seed << ", nodes " << nodes;
        EXPECT_EQ(f.broken.size(), 0u) << "replay: QUIRE_SIM_SEED=" << seed << ", nodes " << nodes;
        EXPECT_TRUE(how != traced::all || !says) << "replay: QUIRE_SIM_SEED=" << seed << ", nodes " << nodes;
        found += told ? 1 : 0;
        unknown += says ? 1 : 0;
      }
    }
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(found, 100u);
  EXPECT_GT(unknown, 5u) << "pages of one node were shared too rarely to mean anything";
}

}  // namespace
}  // namespace quire::whole::whole_races_test
