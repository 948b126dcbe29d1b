// SPDX-License-Identifier: BSD-3-Clause
// Diffs while survivors find homes (protocol/release/loss.cpp). Those that were sent before their sender knew of the
// death are taken by a home that lives, at once, and else wait until the unit has a home; nobody acknowledges them, as
// their senders count them no more. Those that come from nodes that are further wait until this one is as far.
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/diffs.hpp"
#include "core/known_machines.hpp"
#include "core/node_effects.hpp"
#include "core/region_slot.hpp"
#include "core/survival.hpp"
#include "protocol/release/node.hpp"

namespace quire::core {

using model::message;
using model::node_id;

/// True if the message has been dealt with.
bool diff_traffic::is_put_off(const message& m, std::span<const std::byte> entries) noexcept {
  if (core_.members.is_dead(m.from) || core_.regions.slot(m.region) == nullptr) return true;
  if (core_.survival.recovery().is_old(m.from.value())) {
    take_old(m, entries);
    return true;
  }
  if (!core_.consistency.open().recovering) return false;
  early_.push_back({m, {entries.begin(), entries.end()}});
  return true;
}

void diff_traffic::take_old(const message& m, std::span<const std::byte> entries) noexcept {
  region_slot* const r = core_.regions.slot(m.region);
  release::machine* const machine = r != nullptr ? release_of(*r) : nullptr;
  if (machine == nullptr || m.kind != model::message_kind::diffs) return;
  for (entry e; !entries.empty();) {
    const std::span<const std::byte> before = entries;
    (void)take_entry(*r, m, entries, e);
    if (m.requester == core_.config.self && machine->is_home(e.unit)) continue;  // its content has it
    if (machine->losses().takes_old(e.unit)) {
      use_content(core_.frames, *r, e.unit, 1, content::changed);
      if (!apply_here(*r, e)) refuse(m);
      machine->losses().on_taken(e.unit);
      ++count_.applied;
      continue;
    }
    // Its writer may be dead, and have told this node, or the one that passes it on, to which it was on its way.
    const auto own = before.first(before.size() - entries.size());
    held_.push_back({m, {own.begin(), own.end()}});
    machine->losses().holds_back(e.unit, m.requester);
  }
}

void diff_traffic::cut() noexcept {
  send_all();
  note_sent_before();
  for (const sent_diff& s : sent_before_) {
    region_slot* const r = core_.members.is_dead(s.to) ? core_.regions.slot(s.region) : nullptr;
    if (r != nullptr && release_of(*r) != nullptr) release_of(*r)->losses().owes(s.unit, s.writer);
  }
  const auto held = std::exchange(held_, {});
  for (const kept_diffs& k : held) take_old(k.m, k.entries);
  const auto early = std::exchange(early_, {});
  for (const kept_diffs& k : early) {
    if (!core_.members.is_dead(k.m.from)) take_old(k.m, k.entries);
  }
}

/// Of a writer that is dead already nobody was told: what it sent behind the diff is not heard any more.
void diff_traffic::note_sent_before() noexcept {
  for (const auto& d : departures_) {
    if (!d->used || !d->answered) continue;
    region_slot* const r = core_.regions.slot(d->m.region);
    const bool counts =
        r != nullptr && d->left != 0 && !core_.members.is_dead(d->m.requester) && release_of(*r) != nullptr;
    auto entries = std::span<const std::byte>(d->payload).first(d->bytes);
    for (entry e; counts && take_entry(*r, d->m, entries, e);)
      sent_before_.push_back({d->m.region, e.unit, d->m.requester, d->to});
    d->answered = false;  // it is free when it has been sent
    d->left = 0;
    ++unanswered_;
  }
}

/// What was held is as this node's own from now on.
void diff_traffic::rebuild() noexcept {
  const auto held = std::exchange(held_, {});
  for (const kept_diffs& k : held) {
    region_slot* const r = core_.regions.slot(k.m.region);
    release::machine* const machine = r != nullptr ? release_of(*r) : nullptr;
    std::span<const std::byte> entries = k.entries;
    entry e;
    if (machine == nullptr || !take_entry(*r, k.m, entries, e) || !machine->losses().takes_held(e.unit)) continue;
    const auto way = machine->way_of(e.unit);
    source mine{k.m.region, k.m.requester};
    if (machine->is_home(e.unit)) {
      use_content(core_.frames, *r, e.unit, 1, content::changed);
      if (!apply_here(*r, e)) refuse(k.m);
      machine->losses().on_taken(e.unit);
      continue;
    }
    mine.group = core_.consistency.diff_sent(way.to, false);
    e.moves = way.moves;
    put(way.to, mine, e);
  }
  send_all();
  const auto early = std::exchange(early_, {});
  for (const kept_diffs& k : early) on_diffs(k.m, k.entries);
}

}  // namespace quire::core
