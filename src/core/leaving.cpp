// SPDX-License-Identifier: BSD-3-Clause
// See leaving.hpp. A unit goes to the node that manages it; those that this node manages go round the others, in runs.
// What this node managed node 0 takes over, as it is told which units are not as at the beginning any more.
#include "core/leaving.hpp"

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

constexpr std::uint64_t most_at_once = 2048;  ///< units that others are asked to take, until they have
constexpr std::uint64_t run = 64;             ///< neighbours that go to the same node

/// The `n`-th of those that stay.
node_id staying(const core& node, std::uint64_t n) noexcept {
  const unsigned nodes = node.config.nodes;
  auto to = static_cast<unsigned>(n % nodes);
  while (to == node.config.self.value() || node.members.is_dead(node_id{static_cast<std::uint16_t>(to)}))
    to = (to + 1) % nodes;
  return node_id{static_cast<std::uint16_t>(to)};
}

}  // namespace

const char* leaver::obstacle() const noexcept {
  if (core_.members.is_dead(node_id{0})) return "node 0, which would take over what this node manages, is dead";
  const char* why = nullptr;
  core_.regions.for_each([&](region_slot& r) {
    if (core_.regions.is_adopted(r.about)) why = "memory of the program was adopted, as stock programs have it";
    if (r.about.backing != 0) why = "a container is open";
    if (sequential_of(r) == nullptr) why = "a region's consistency is not sequential";
  });
  return why;
}

/// How many units are still here.
std::uint64_t leaver::hand_over() noexcept {
  std::uint64_t here = 0;
  core_.regions.for_each([&](region_slot& r) {
    sequential::machine* const machine = sequential_of(r);
    if (machine == nullptr) return;
    each_used_unit(r, [&](std::uint64_t unit) {
      if (here >= most_at_once) return;
      node_id to = machine->authority_of(unit);
      if (to == core_.config.self) to = staying(core_, unit / run + r.about.id);
      core_.actions.clear();
      here += machine->losses().hand_over(unit, to, core_.actions) ? 1 : 0;
      if (core_.actions.size() != 0) core_.take_step(r);
    });
    core_.perform_steps();
  });
  return here;
}

/// What this node could still read goes, too: nobody will tell it what becomes of that.
void leaver::tell_heir() noexcept {
  core_.regions.for_each([&](region_slot& r) {
    sequential::machine& machine = *sequential_of(r);
    each_used_unit(r, [&](std::uint64_t unit) {
      core_.actions.clear();
      machine.losses().tell_elsewhere(unit, node_id{0}, core_.actions);
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
  tell_heir();
  core_.survival.leave();
  return true;
}

}  // namespace quire::core
