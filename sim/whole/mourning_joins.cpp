// SPDX-License-Identifier: BSD-3-Clause
// Nodes that come while others are at work, die and leave (core/survival.hpp, survivor::join()).
#include <algorithm>
#include <iterator>

#include "core/region_slot.hpp"
#include "core/survival.hpp"
#include "sim/whole/mourning.hpp"

namespace quire::whole {

namespace {
constexpr sim::time_ns short_wait = 20'000;
}

bool mourning::has_joined(unsigned node) { return world_.at(node).core().survival.has_joined(); }

bool mourning::all_have_joined() {
  for (unsigned n = founders(); n < options_.nodes; ++n) {
    const bool over = never_.contains(n) || (come_.contains(n) && (has_joined(n) || world_.at(n).is_dead()));
    if (!over) return false;
  }
  return true;
}

/// As the launcher does: one after the other, and if there is somebody to join.
void mourning::let_join(unsigned node) {
  if (never_.contains(node)) return;
  bool any = false;
  for (unsigned n = 0; n < options_.nodes; ++n) {
    if (is_absent(n) || world_.at(n).is_dead()) continue;
    if (!has_joined(n)) return world_.net().after(short_wait, [this, node] { let_join(node); });
    any = true;
  }
  if (!any) return void(never_.insert(node));
  come_.insert(node);
  world_.come(node);
  begin_at(node);
}

void mourning::begin_at(unsigned n) {
  const auto first = static_cast<unsigned>(std::ranges::find(node_of_, n) - node_of_.begin());
  for (unsigned number = 1; number <= threads_[n]; ++number) {
    world_.start(n, [this, number, place = first + number - 1, seed = draw_.next()](node& here) {
      mourner m(world_, here, number, place, seed);
      m.node_number() < founders() ? live(m) : live_later(m);
    });
  }
}

void mourning::join(mourner& m) {
  core::core& here = m.here.core();
  if (m.number == 1) {
    std::uint64_t members = 0, left = 0;
    for (unsigned n = 0; n < options_.nodes; ++n) {
      if (n < founders() || come_.contains(n) || never_.contains(n)) members |= std::uint64_t{1} << n;
      if (has_left(n)) left |= std::uint64_t{1} << n;
    }
    here.as_driver([&] { here.survival.join(members, left); });
  }
  while (!here.survival.has_joined() && !world_.failed()) world_.sleep(short_wait);
  const std::uint64_t here_now = here.survival.recovery().members() & ~here.survival.recovery().gone();
  if (here_now == std::uint64_t{1} << m.node_number()) return die(m.node_number());  // it may have been told nothing
  if (m.number == 1) ++done_["joins"];
}

/// Which lap the others are in the first thread hears when it meets them.
void mourning::live_later(mourner& m) {
  join(m);
  if (m.here.is_dead()) return;
  const auto leaves = leavers_.find(m.node_number());
  const std::uint64_t last = m.draw.below(steps);
  for (unsigned lap = 0, now = 0; now != laps && !world_.failed(); ++lap) {
    for (unsigned i = 0; i < steps && !world_.failed(); ++i) {
      if (leaves != leavers_.end() && lap == leaves->second.leaves_in && i == last) return leave(m);
      if (m.draw.chance(60)) world_.sleep(m.draw.below(30'000));
      step(m);
      use_regions(m);
    }
    now = m.number == 1 ? meet_nodes(m, 0) : std::min(lap + 1, laps);
  }
  if (leaves != leavers_.end()) return leave(m);
  world_.sleep(latest_death + 2'000'000);
  look_at_all(m);
}

/// Nobody calls after that who may be awaited by one that joins.
void mourning::part_from_nodes(mourner& m) {
  while (!all_have_joined() && !world_.failed()) world_.sleep(short_wait);
  (void)meet_nodes(m, laps);
}

void mourning::use_regions(mourner& m) {
  constexpr unsigned most = 4;
  if (in_making_ < most && m.draw.chance(2)) make_region(m);
  if (!made_.empty() && m.draw.chance(20)) use_region(m);
}

/// Node 0, which numbers regions, may be dead.
void mourning::make_region(mourner& m) {
  ++in_making_;
  constexpr quire_placement places[] = {QUIRE_PLACE_BLOCK, QUIRE_PLACE_MODULO, QUIRE_PLACE_NODE,
                                        QUIRE_PLACE_FIRST_TOUCH};
  quire_region_options how{};
  how.consistency = QUIRE_SEQUENTIAL;
  how.placement = places[m.draw.below(std::size(places))];
  how.home = static_cast<int>(m.draw.below(founders()));
  const std::uint64_t bytes = (1 + m.draw.below(4)) * 4096;
  quire_region made{};
  region::keeper& keeper = m.here.keeper();
  auto why = keeper.create(how, bytes, made);
  if (why.code() == QUIRE_LOST && is_dead(0)) return;
  m.must(why, "the making of a region");
  if (world_.failed()) return;
  ++done_["regions"];
  if (m.draw.chance(50)) {
    const core::region_ref r = m.here.core().regions.of_handle(made.id);
    if (r == nullptr) return world_.fail("a region that was made is not there");
    world_.watch_region(r->about.id);
    return made_.push_back({r->about.base, bytes});
  }
  do {
    world_.sleep(m.draw.below(20'000));
    why = keeper.destroy(made);
  } while (why.code() == QUIRE_BUSY && !world_.failed());
  if (why.code() == QUIRE_LOST && is_dead(0)) return;
  m.must(why, "the end of a region");
  over_.push_back(made);
}

/// Where nobody dies all that was written is there.
void mourning::use_region(mourner& m) {
  const made_region& r = made_[m.draw.below(made_.size())];
  const std::uint64_t at = r.base + m.draw.below(r.bytes / 4096) * 4096 + m.draw.below(words) * sizeof(std::uint64_t);
  if (m.here.core().regions.find(at) == nullptr) return world_.fail("a node does not know a region that was made");
  std::uint64_t value = world_.unique();
  if (!options_.deaths && m.draw.chance(50)) return void(m.read(at));
  const bool there = m.draw.chance(50) ? m.here.try_store(at, value) : m.here.try_load(at, value);
  if (!there && !options_.deaths) world_.fail("a unit of a region that was made is lost");
}

void mourning::look_at_regions(mourner& m) {
  for (const quire_region& r : over_) {
    if (m.here.core().regions.of_handle(r.id) != nullptr) world_.fail("a node has a region that has gone");
  }
  for (const made_region& r : std::vector(made_)) {
    if (m.here.core().regions.find(r.base) == nullptr) world_.fail("a node does not know a region that was made");
    for (std::uint64_t at = r.base; at < r.base + r.bytes && !options_.deaths; at += 4096) (void)m.read(at);
  }
}

}  // namespace quire::whole
