// SPDX-License-Identifier: BSD-3-Clause
// A region goes. All nodes take these steps together (region/keeper_end.cpp), each as the driver, between steps of
// machines:
//
//   begin     as for a change of consistency (change.cpp): what threads ask for is kept for later, written units are
//             sent home, homes stay
//   look      what was sent and received, and whether this node is at rest; again and again, until two looks at all
//             nodes agree
//   finish    addresses, frames, tables, and every place of the node that names the region
//
// Notices alone may come later, as they wait with the nodes that know them: they tell the region's life, and nobody
// hears those of another one.
#include "core/region_remover.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "core/absent_units.hpp"
#include "core/call_table.hpp"
#include "core/change.hpp"
#include "core/core.hpp"
#include "core/counters.hpp"
#include "core/diffs.hpp"
#include "core/fault.hpp"
#include "core/frames.hpp"
#include "core/held_units.hpp"
#include "core/known_machines.hpp"
#include "core/minipages/whole_pages.hpp"
#include "core/outbox.hpp"
#include "core/page_out.hpp"
#include "core/protocol_set.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "core/spread.hpp"
#include "core/stored_units.hpp"
#include "core/survival.hpp"
#include "core/unit_waiters.hpp"
#include "directory/pins.hpp"

namespace quire::core {

stays region_remover::begin(region_slot& r) noexcept {
  if (r.block != nullptr) return stays::in_block;
  if (r.change.frozen.has(freeze::change) || r.change.frozen.has(freeze::hold) || r.change.frozen.has(freeze::end))
    return stays::changes;
  core_.whole.end();
  bool pinned = core_.protocols.domain_of(r).commits_in(model::region_id{r.about.id});
  core_.pinned.for_each([&](const directory::pin& p) { pinned |= p.region.value() == r.about.id; });
  if (pinned) return stays::pinned;
  r.change.frozen.add(freeze::end);
  (void)core_.held.end();
  r.machine->successor().stay(true);
  core_.protocols.release(core_.protocols.domain_of(r), true);
  return stays::no;
}

void region_remover::give_up(region_slot& r) noexcept {
  if (r.change.frozen.has(freeze::end)) core_.changes.thaw(r, freeze::end, r.block != nullptr);
}

bool region_remover::looks_later(const region_slot& r) const noexcept {
  return core_.survival.recovery().active() ||
         (r.tracks_frames() && (core_.frames.any_under_way(r) || core_.frames.is_flushing(r)));
}

void region_remover::postpone(const region_slot& r, const model::message& m, std::span<const std::byte> value) {
  std::erase_if(postponed_, [&](const postponed& p) { return p.region == r.about.id; });
  postponed p{r.about.id, {m, {}}};
  CHECK(value.size() <= p.what.value.size());
  std::copy(value.begin(), value.end(), p.what.value.begin());
  postponed_.push_back(p);
}

bool region_remover::look_at_postponed() noexcept {
  const auto count = std::erase_if(postponed_, [&](const postponed& p) {
    const region_slot* const r = core_.regions.slot(model::region_id{p.region});
    if (r != nullptr && looks_later(*r)) return false;
    core_.out.send_here(p.what.m, std::span<const std::byte>(p.what.value).first(p.what.m.payload_bytes));
    return true;
  });
  return count != 0;
}

region_rest region_remover::look(region_slot& r) noexcept {
  region_rest now;
  bool at_rest = true;
  for (const auto& m : r.made) at_rest = at_rest && (m == nullptr || m->at_rest());
  now.quiet = at_rest && r.change.calls == 0 && !core_.held.has_any_of(r) && !core_.diffs.has_any_of(r) &&
              !core_.spread.has_any_of(r) && core_.absent.is_quiet(r) && core_.stored.is_quiet(r);
  now.sent = r.change.sent;
  now.received = r.change.received;
  now.dead = core_.members.dead;
  return now;
}

void region_remover::finish(region_slot& r) noexcept {
  const model::region_id id{r.about.id};
  core_.regions.withdraw(r);
  end_waiting(r);
  core_.gone.add(r);
  base::fault_vector<std::uint64_t> pinned;
  core_.pinned.for_each([&](const directory::pin& p) {
    if (p.region == id) pinned.push_back(p.unit);
  });
  for (const std::uint64_t unit : pinned) core_.pinned.remove(id, unit);
  core_.held.forget(r);
  core_.whole.forget(r);
  core_.paging.forget(r);
  core_.stored.forget(r);
  core_.frames.forget(r);
  core_.faults.forget(r);
  for (const protocol::row* const of : core_.protocols.rows()) core_.protocols.domain(of->id).forget(id);
  r.block.reset();
  core_.frames.retire(std::move(r.backing));
  core_.builder.empty(r);
}

/// Nobody but a program in error waits for anything of a region that goes; or a node that hears of it after a death.
void region_remover::end_waiting(region_slot& r) noexcept {
  for (op* o = std::exchange(r.change.first, nullptr); o != nullptr;) {
    op* const rest = o->next;  // the op may end, and with it its memory
    o->complete(QUIRE_NOT_FOUND);
    o = rest;
  }
  r.change.last = nullptr;
  r.change.faults = {};
  core_.waiting.end(r, QUIRE_NOT_FOUND);
  core_.tokens.for_each([&](std::uint64_t token, op& o) {
    if (o.what() != op::type::call || static_cast<call_op&>(o).region.get() != &r) return;
    (void)core_.tokens.take(token);
    o.complete(QUIRE_NOT_FOUND);
  });
}

}  // namespace quire::core
