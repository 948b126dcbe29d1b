// SPDX-License-Identifier: BSD-3-Clause
// Nodes that come while others are at work, die and leave (core/survival.hpp, survivor::join()).
#include <algorithm>

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
  if (m.number == 1) ++done_["joins"];
}

/// Which lap the others are in the first thread hears when it meets them.
void mourning::live_later(mourner& m) {
  join(m);
  const auto leaves = leavers_.find(m.node_number());
  const std::uint64_t last = m.draw.below(steps);
  for (unsigned lap = 0, now = 0; now != laps && !world_.failed(); ++lap) {
    for (unsigned i = 0; i < steps && !world_.failed(); ++i) {
      if (leaves != leavers_.end() && lap == leaves->second.leaves_in && i == last) return leave(m);
      if (m.draw.chance(60)) world_.sleep(m.draw.below(30'000));
      step(m);
    }
    now = m.number == 1 ? meet_nodes(m, 0) : std::min(lap + 1, laps);
  }
  if (leaves != leavers_.end()) return leave(m);
  world_.sleep(latest_death + 2'000'000);
  for (const auto& [at, value] : std::unordered_map(world_.all_written())) look(m, at);
}

/// Nobody calls after that who may be awaited by one that joins.
void mourning::part_from_nodes(mourner& m) {
  while (!all_have_joined() && !world_.failed()) world_.sleep(short_wait);
  (void)meet_nodes(m, laps);
}

}  // namespace quire::whole
