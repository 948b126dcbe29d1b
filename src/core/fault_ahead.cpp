// SPDX-License-Identifier: BSD-3-Clause
// What comes along with the unit of a fault, where threads go through memory in order: which units are asked for in
// advance, and which this node may map for the first time, or write, without asking. Driver's thread.
#include <algorithm>

#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/counters.hpp"
#include "core/fault.hpp"
#include "core/known_machines.hpp"
#include "core/performer.hpp"
#include "core/plans/planner.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "model/action.hpp"
#include "model/neighbours.hpp"
#include "races/recorder.hpp"

namespace quire::core {

using model::access;

/// That one stream brings at a time.
std::uint64_t fault_path::window_bytes() const noexcept {
  return std::min(read_ahead::max_window_bytes, most_ahead_bytes());
}

read_ahead_plan fault_path::plan_for(const region_slot& r, std::uint64_t unit, access want, bool here,
                                     sweeps& stream) noexcept {
  const model::region_id id{r.about.id};
  const std::uint64_t max_window = r.layout.fitting(unit, window_bytes()), units = r.machine->units();
  read_ahead_plan plan = stream.on_any_fault(id, unit, units, max_window, want == access::write, here);
  const bool fresh = plan.fresh && !here && r.layout.is_uniform();
  if (fresh && core_.config.read_lines) plan = lines_.on_fault(id, unit, units, max_window);
  if (fresh && plan.count == 0 && want == access::read && core_.builder.has_one_memory(r)) return near(r, unit);
  return plan;
}

/// In one memory a unit more costs no content, and takes no right from anybody. So a read that belongs to no sweep asks
/// for its neighbours as well. The first of them is not mapped: if it is taken away untouched, none is asked for again.
/// If it is the one that is read, nobody would speak for the others, and they are left.
read_ahead_plan fault_path::near(const region_slot& r, std::uint64_t unit) noexcept {
  const std::uint64_t first = model::first_neighbour(unit);
  if (unit == first) return {.fresh = true};
  const std::uint64_t count = std::min(model::neighbours, r.machine->units() - first);
  return {.first = first, .count = count, .withhold_some = true, .fresh = true};
}

/// Memory that fills up, as a heap does in several streams, or down, as a stack: as many units that nobody has written
/// as are in use on the other side of `unit`. Of sequential consistency: under release it would be for reading only.
void fault_path::map_fresh(region_slot& r, std::uint64_t unit) noexcept {
  if (!core_.config.read_ahead || core_.config.memory_limit != 0 || r.can().relaxed) return;
  const std::uint64_t units = r.machine->units();
  const auto is_used = [&](std::uint64_t u) { return u < units && r.machine->mapped(u) != access::none; };
  const auto is_fresh = [&](std::uint64_t u) {
    return u < units && r.machine->mapped(u) == access::none && !r.machine->is_written(u) && r.can_be_guessed(u);
  };
  for (const std::int64_t step : {1, -1}) {  // below unit 0 there is none: its number is too large
    const auto at = [&](std::uint64_t distance) { return unit + static_cast<std::uint64_t>(step) * distance; };
    if (!is_fresh(at(1))) continue;  // nothing else is looked at then
    std::uint64_t used = 0;
    while (used < read_ahead::most_around && is_used(unit - static_cast<std::uint64_t>(step) * (used + 1))) ++used;
    for (std::uint64_t i = 1; i <= used && is_fresh(at(i)); ++i)
      if (!map_next(r, at(i))) break;
  }
}

/// Whether threads of this node may write the unit without a message, and would fault. Where content is on two nodes,
/// as it was sent to a backup since.
bool fault_path::may_write_on(const region_slot& r, std::uint64_t unit) const noexcept {
  if (r.can().relaxed) return r.machine->keeps(unit);
  return sequential_of(r)->right_of(unit) == access::write && r.machine->mapped(unit) == access::read &&
         r.machine->is_written(unit);
}

/// After a write fault that cost no message, of release consistency, or where content is on two nodes: a sweep that
/// goes on need not fault at each of the units whose home is here, or that this node owns. They count as written.
void fault_path::write_on(region_slot& r, std::uint64_t unit) noexcept {
  if (!core_.config.write_ahead || !r.layout.is_uniform()) return;
  sequential::machine* const twice = core_.config.replicas ? sequential_of(r) : nullptr;
  if (!r.can().relaxed && (twice == nullptr || !twice->losses().replicated())) return;
  const auto plan = writes_.on_fault(model::region_id{r.about.id}, unit, r.machine->units(), most_writes_on);
  for (std::uint64_t next = plan.first; next < plan.first + plan.count; ++next) {
    if (!r.can_be_guessed(next) || !may_map(r, next) || !may_write_on(r, next)) return;
    core_.actions.clear();
    if (!r.machine->on_hint(next, access::write, core_.actions)) continue;
    core_.count.write_ahead_units.fetch_add(1, std::memory_order_relaxed);
    core_.planner.on_write_ahead(r, next);
    if (core_.races != nullptr) core_.races->note_ahead(r.address_of(unit), r.address_of(next));
    core_.performer.take(r, core_.actions);
  }
}

/// Asks for the units of a plan.
void fault_path::read_on(region_slot& r, const read_ahead_plan& plan, unit_range units, access want,
                         sweeps& stream) noexcept {
  if (plan.count == 0) return;
  const bool guessed = plan.will_write && want == access::read && core_.config.learn_writes;
  const std::uint64_t marker = plan.down ? units.end - 1 : units.first;
  bool asked = false;
  for (std::uint64_t unit = units.first; unit < units.end; ++unit) {
    if (!r.can_be_guessed(unit)) continue;
    const std::uint64_t speaks = model::first_neighbour(unit);
    const bool withhold = unit == marker || plan.withhold_all || (plan.withhold_some && unit == speaks);
    if (!withhold && r.machine->was_ahead_in_vain(speaks)) continue;
    core_.actions.clear();
    if (!r.machine->on_read_ahead(unit, want, withhold, core_.actions, guessed)) continue;
    asked = true;
    if (plan.withhold_some && !plan.fresh) core_.count.line_units.fetch_add(1, std::memory_order_relaxed);
    core_.planner.on_read_ahead(r, unit);
    core_.performer.take(r, core_.actions);
  }
  if (!asked) return stream.on_nothing_asked_of(model::region_id{r.about.id}, plan, r.machine->units());
  core_.performer.flush();
}

}  // namespace quire::core
