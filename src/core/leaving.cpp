// SPDX-License-Identifier: BSD-3-Clause
// See leaving.hpp. A unit goes to the node that manages it; those that this node manages go round the others, in runs.
// What this node managed node 0 takes over, as it is told which units are not as at the beginning any more.
#include "core/leaving.hpp"

#include <algorithm>
#include <utility>

#include "base/nanoseconds.hpp"
#include "bootstrap/bootstrap.hpp"
#include "core/call_table.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/known_machines.hpp"
#include "core/region_slot.hpp"
#include "core/replicas.hpp"
#include "core/survival.hpp"
#include "core/sync_calls.hpp"
#include "core/used_units.hpp"
#include "model/action.hpp"
#include "model/membership.hpp"

namespace quire::core {

using model::node_id;

namespace {

constexpr std::uint64_t most_at_once = 2048;          ///< units that others are asked to take, until they have
constexpr std::uint64_t run = 64;                     ///< neighbours that go to the same node
constexpr std::uint64_t patience_ns = 50 * base::ms;  ///< until those who have not taken a unit are asked again

/// The `n`-th of those that stay.
node_id staying(const core& node, std::uint64_t n) noexcept {
  const unsigned nodes = node.config.nodes;
  auto to = static_cast<unsigned>(n % nodes);
  while (to == node.config.self.value() || node.members.is_dead(node_id{static_cast<std::uint16_t>(to)}))
    to = (to + 1) % nodes;
  return node_id{static_cast<std::uint16_t>(to)};
}

}  // namespace

leaver::leaver(core& node) : core_(node) { asked_.reserve(most_at_once); }

const char* why_node_stays(core& node) noexcept {
  const configuration& c = node.config;
  if (!c.survives) return "the job does not go on without a node: start it with --on-failure notify (QUIRE_ON_FAILURE)";
  if (!node.job.announces_deaths()) return "only nodes that `quire run` has started can leave";
  if (c.self.value() == 0) return "node 0 stays, as it takes over what others have managed";
  if (c.pool.which == pool::kind::fork) return "its pool is 'fork'";
  if (node.members.is_dead(node_id{0})) return "node 0, which would take over what this node manages, is dead";
  const char* why = nullptr;
  node.regions.for_each([&](region_slot& r) {
    if (node.regions.is_adopted(r.about)) why = "memory of the program was adopted, as stock programs have it";
    if (r.about.backing != 0) why = "a container is open: close it on all nodes";
    if (sequential_of(r) == nullptr)
      why = "a region's consistency is not sequential: destroy it, or make it with QUIRE_SEQUENTIAL";
  });
  return why;
}

bool leaver::keeps(model::region_id region, std::uint64_t unit) const noexcept {
  region_slot* const r = core_.regions.slot(region);
  return r != nullptr && sequential_of(*r) != nullptr && sequential_of(*r)->losses().keeps(unit);
}

/// A unit of its own goes round the others, until as many have as were here: what comes back then is another's who
/// leaves as well, and node 0 does not.
node_id leaver::taker_of(region_slot& r, std::uint64_t unit) noexcept {
  const node_id manager = sequential_of(r)->authority_of(unit);
  if (manager != core_.config.self) return manager;
  return to_spread_ != 0 && to_spread_-- != 0 ? staying(core_, unit / run + r.about.id) : node_id{0};
}

/// Some are asked for at once. When those have gone, or have had time to, all that is still here is looked at again.
std::uint64_t leaver::hand_over() noexcept {
  std::erase_if(asked_, [this](const place& p) { return !keeps(p.region, p.unit); });
  if (!asked_.empty() && core_.now() < ask_again_) return others_ + asked_.size();
  std::uint64_t here = 0;
  asked_.clear();
  core_.regions.for_each([&](region_slot& r) {
    if (sequential_of(r) == nullptr) return;
    each_used_unit(r, [&](std::uint64_t unit) {
      if (!keeps(model::region_id{r.about.id}, unit)) return;
      ++here;
      if (asked_.size() < most_at_once) asked_.push_back({model::region_id{r.about.id}, unit});
    });
  });
  if (!std::exchange(counted_, true)) to_spread_ = here;
  for (const place& p : asked_) {
    region_slot& r = *core_.regions.slot(p.region);
    core_.actions.clear();
    sequential_of(r)->losses().hand_over(p.unit, taker_of(r, p.unit), core_.actions);
    if (core_.actions.size() != 0) core_.take_step(r);
  }
  core_.perform_steps();
  ask_again_ = core_.now() + patience_ns;
  others_ = here - asked_.size();
  return here;
}

/// What this node could still read goes, too: nobody will tell it what becomes of that.
void leaver::tell_heirs() noexcept {
  core_.regions.for_each([&](region_slot& r) {
    sequential::machine& machine = *sequential_of(r);
    each_used_unit(r, [&](std::uint64_t unit) {
      core_.actions.clear();
      machine.losses().tell_heir(unit, core_.actions);
      if (core_.actions.size() != 0) core_.take_step(r);
    });
    core_.perform_steps();
    each_used_unit(r, [&](std::uint64_t unit) {
      core_.actions.clear();
      machine.give_up(unit, core_.actions);
      if (core_.actions.size() != 0) core_.take_step(r);
    });
    core_.perform_steps();
  });
}

bool leaver::is_idle() const noexcept {
  bool idle = !core_.survival.recovery().active() && core_.replicas.is_safe();
  core_.tokens.for_each([&](std::uint64_t, op&) { idle = false; });
  core_.objects.step([&](sync::machine& machine, sync::actions&) { idle = idle && machine.is_idle(); });
  return idle;
}

bool leaver::go_on() noexcept {
  if (core_.survival.recovery().active() || obstacle() != nullptr) return false;
  units_ = hand_over();
  if (units_ != 0 || !is_idle()) return false;
  tell_heirs();
  core_.survival.leave();
  return true;
}

}  // namespace quire::core
