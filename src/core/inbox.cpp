// SPDX-License-Identifier: BSD-3-Clause
// Messages in: content has landed in the system view, machines take the message, replies leave.
#include "core/inbox.hpp"

#include <algorithm>

#include <cstring>

#include "base/copy_words.hpp"
#include "base/log.hpp"
#include "core/absent_units.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/diffs.hpp"
#include "core/event_key.hpp"
#include "core/frames.hpp"
#include "core/known_machines.hpp"
#include "core/message_table.hpp"
#include "core/page_out.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "core/replicas.hpp"
#include "core/services.hpp"
#include "core/spread.hpp"
#include "core/stored_units.hpp"
#include "core/survival.hpp"
#include "core/sync_calls.hpp"
#include "core/unit_calls.hpp"
#include "core/watching.hpp"
#include "model/action.hpp"
#include "record/events.hpp"
#include "protocol/release/node.hpp"
#include "sync/kinds.hpp"

namespace quire::core {

namespace {
/// Whether a message left by outbox::synchronise(), or tells what those are to tell (domains where consistency is
/// relaxed do): threads of this node may go on by it.
bool synchronises(const model::message& m, const protocol::message_traits& t, const protocol_set& all) noexcept {
  if (m.kind < model::message_kind::sync_first) {
    return t.leaves != protocol::passage::plain || t.acquires ||
           (t.to == protocol::route::domain && all.find(t.of)->can.relaxed);
  }
  return m.kind <= model::message_kind::sync_last ? !sync::is_piece(sync::kind_of(m.kind))
                                                  : m.kind <= model::message_kind::service_notice;
}
}  // namespace

using model::message;
using model::message_kind;
using protocol::payload;
using protocol::route;

void inbox::deliver(const message& m) noexcept {
  const quire::record::context happens(core_.events.get(), quire::record::event_type::comes, key_of(m), m.from.value(),
                                       static_cast<std::uint8_t>(m.kind), m.payload_bytes);
  core_.watching.heard(m.from);
  if (is_too_late(m)) return;
  if (m.payload_bytes == 0) {  // else place() has looked at it
    if (const char* const why = fault_of(m); why != nullptr) refuse(m, why);
  }
  const payload what = core_.messages.of(m.kind).brings;
  switch (what) {
    case payload::entries:
      more_follows_ = true;
      return core_.diffs.deliver(m);
    case payload::spread:
      return core_.spread.deliver(m);
    case payload::offer:
      return updates_.with(m, [&](std::span<const std::byte> content) { handle_update(m, content); });
    case payload::replica:
      return core_.replicas.traffic.arriving.with(
          m, [&](std::span<const std::byte> content) { core_.replicas.on_content(m, content); });
    case payload::piece:
      if (m.payload_bytes == 0) return handle(m, {});
      return core_.objects.with_piece(m, [&](std::span<const std::byte> content) { handle(m, content); });
    default:
      break;
  }
  const auto value = std::span<const std::byte>(landing_).first(what == payload::content ? 0 : m.payload_bytes);
  const protocol::message_traits& t = core_.messages.of(m.kind);
  if ((synchronises(m, t, core_.protocols) || is_ordered(m, t)) && core_.protocols.waits(m, value)) return;
  admit(m, value);
}

void inbox::admit(const message& m, std::span<const std::byte> value) noexcept {
  const protocol::message_traits& t = core_.messages.of(m.kind);
  if (core_.survival.is_mending() && core_.relaxed()) {
    if (core_.survival.puts_off(m, value)) return;
    if (core_.consistency.open().recovering) return handle(m, value);
  }
  if (core_.relaxed() && (synchronises(m, t, core_.protocols) || is_ordered(m, t)) &&
      core_.protocols.keeps_back(m, value))
    return;
  handle(m, value);
}

/// Messages of no region, as acknowledgements of diffs, have the number of one: to keep them back would be for ever.
bool inbox::is_ordered(const message& m, const protocol::message_traits& t) const noexcept {
  const bool of_units = m.kind < message_kind::sync_first && (t.to == route::machine || t.to == route::own);
  const region_slot* const r = of_units ? core_.regions.slot(m.region) : nullptr;
  return r != nullptr && core_.orders(*r);
}

/// In a job that goes on without nodes, of which the first one may be that numbers regions: a region may go before all
/// that was sent has come.
bool inbox::is_too_late(const message& m) const noexcept {
  if (!core_.config.survives || m.kind >= message_kind::sync_first) return false;
  const route to = core_.messages.of(m.kind).to;
  return to != route::part && to != route::domain && core_.regions.slot(m.region) == nullptr;
}

/// What was sent before its sender knew of a death is not counted there any more.
void inbox::count_received(region_slot& r, const message& m) const noexcept {
  const bool old = core_.config.survives && core_.survival.recovery().is_old(m.from.value());
  if (!old) r.change.received += m.count;
}

void inbox::peer_lost(model::node_id peer) noexcept { core_.watching.lost(peer); }

void inbox::handle(const message& m, std::span<const std::byte> value) noexcept {
  if (core_.config.survives && core_.survival.take_recovery(m, value)) return;
  if (m.kind < message_kind::sync_first) {
    handle_memory(m, value);
  } else if (m.kind >= message_kind::sync_first && m.kind <= message_kind::sync_last) {
    core_.objects.on_message(m, value);
  } else if (m.kind == message_kind::watch) {
    core_.watching.on_message(m);
  } else if (m.kind != message_kind::recovery) {
    core_.services.on_message(m, value);
  }
}

void inbox::handle_memory(const message& m, std::span<const std::byte> value) noexcept {
  const protocol::message_traits& t = core_.messages.of(m.kind);
  switch (t.to) {
    case route::machine:
    case route::own:
    case route::page_out:
      return handle_units(m, t);
    case route::domain:
      core_.protocols.feed(core_.protocols.domain(t.of), [&](protocol::domain& of) {
        if (!of.on_message(m, value)) refuse(m, "what it tells is nonsense");
      });
      return;
    case route::part:
      return handle_part(m, value);
    case route::nobody:
      refuse(m, "no protocol of this node has such messages");
  }
}

void inbox::handle_part(const message& m, std::span<const std::byte> value) noexcept {
  switch (m.kind) {
    case message_kind::room:
      return core_.paging.on_room(m);
    case message_kind::write_back:
      return core_.stored.on_call(m);
    case message_kind::written_back:
      return core_.stored.on_answer(m);
    case message_kind::diffs:
      return core_.diffs.on_diffs(m, value);
    case message_kind::diffs_ack:
      return core_.diffs.on_ack(m);
    case message_kind::spread_ack:
      return core_.spread.on_ack(m);
    case message_kind::spread_done:
      return core_.calls.on_spread_done(m);
    default:
      refuse(m, "nobody takes it");
  }
}

void inbox::landed(region_slot& r, const message& m) noexcept {
  if ((m.flags & model::message_flag::no_data) != 0 && core_.frames.shares(r)) return found_in_frames(r, m);
  if (core_.messages.of(m.kind).brings != payload::content || m.payload_bytes == 0 || !r.tracks_frames()) return;
  if (core_.config.survives) {
    const auto same = [&](const message& l) {
      return l.from == m.from && l.kind == m.kind && l.region == m.region && l.unit == m.unit && l.token == m.token;
    };
    const auto found = std::find_if(landings_.begin(), landings_.end(), same);
    if (found == landings_.end()) return;  // its sender is dead
    landings_.erase(found);
  }
  content_landed(r, m.unit, m.count);
}

/// It is in the frames, which this node has held since it asked. What its store has of them is older.
void inbox::found_in_frames(region_slot& r, const message& m) noexcept {
  if (core_.messages.of(m.kind).brings != payload::content) return;
  for (std::uint64_t unit = m.unit; unit < m.unit + m.count; ++unit) {
    if (r.machine->has_content(unit)) continue;
    CHECK(core_.frames.is_here(r, r.layout.frame_of(unit)));
    use_content(core_.frames, r, unit, 1, content::asked);
  }
}

/// A frame into which such content was to come, and had none before, has none.
void inbox::forget_landings(std::uint64_t dead) noexcept {
  std::erase_if(landings_, [&](const message& l) {
    if ((dead >> l.from.value() & 1) == 0) return false;
    region_slot* const r = core_.regions.slot(l.region);
    if (r == nullptr) return true;
    content_landed(*r, l.unit, l.count);
    for (std::uint64_t unit = l.unit; unit < l.unit + l.count; ++unit) {
      if (!r->machine->has_content(unit)) core_.frames.leave_wherever(*r, r->layout.frame_of(unit));
    }
    return true;
  });
}

bool inbox::must_wait(region_slot& r, std::uint64_t unit, std::uint64_t ahead, protocol::awaits what) noexcept {
  switch (what) {
    case protocol::awaits::content:
      return core_.absent.must_wait(r, unit, ahead);
    case protocol::awaits::turn:
      return core_.absent.holds(r, unit);
    case protocol::awaits::nothing:
      break;
  }
  return false;
}

void inbox::handle_units(const message& m, const protocol::message_traits& t) noexcept {
  region_slot* const r = core_.regions.slot(m.region);
  if (r == nullptr && is_too_late(m)) return;  // of this node to itself
  if (r == nullptr || !lies_in(*r, m)) refuse(m, "there are no such units");
  core_.stamp(fault_trace::point::received, m.region.value(), m.unit);
  if (t.to == route::page_out) {
    if (t.counted) count_received(*r, m);
    return core_.paging.on_units(*r, m);
  }
  landed(*r, m);
  if (t.orders && core_.orders(*r)) core_.protocols.acquire();  // before a thread here can look at the units
  message one = m;
  one.count = 1;
  for (std::uint32_t i = 0; i < m.count; ++i) {
    one.unit = m.unit + i;
    must_wait(*r, one.unit, m.count - i, t.of_units) ? core_.absent.park(*r, one) : step(*r, one, t);
  }
  core_.stamp(fault_trace::point::decided, m.region.value(), m.unit);
  core_.perform_steps();
}

/// A message counts as received when a machine takes it: before that it is on its way, whoever wants to know
/// (change.cpp).
void inbox::step(region_slot& r, const message& one, const protocol::message_traits& t) noexcept {
  if (t.counted) count_received(r, one);
  if (t.domain_sees)
    core_.protocols.feed(core_.protocols.domain(t.of), [&](protocol::domain& of) { of.on_arriving(one); });
  model::machine* const own = t.to == route::own ? r.made_of(t.of) : nullptr;
  core_.actions.clear();
  (own != nullptr ? *own : *r.machine).on_message(one, core_.actions);
  core_.take_step(r);
}

void inbox::take_unit(region_slot& r, const message& one) noexcept { step(r, one, core_.messages.of(one.kind)); }

bool inbox::refuse_unit(region_slot& r, const message& one, int error) noexcept {
  core_.actions.clear();
  if (!r.machine->stored().on_unfilled(one, error, core_.actions)) return false;
  if (core_.messages.of(one.kind).counted) count_received(r, one);
  core_.take_step(r);
  return true;
}

/// Threads may read the units meanwhile: what they may look at does not change by it.
void inbox::handle_update(const message& m, std::span<const std::byte> bytes) noexcept {
  region_slot* const r = core_.regions.slot(m.region);
  core_.absent.settle(*r, m.unit, m.count);
  count_received(*r, m);
  release::machine* const machine = release_of(*r);
  if (machine == nullptr) return;  // an offer from before the region's consistency changed
  message one = m;
  one.count = 1;
  for (std::uint32_t i = 0; i < m.count; ++i) {
    one.unit = m.unit + i;
    core_.actions.clear();
    const auto outcome = machine->updates().on_update(one, core_.actions);
    if (core_.actions.size() != 0) core_.take_step(*r);
    if (outcome == release::update_outcome::drop) continue;
    use_content(core_.frames, *r, one.unit, 1, content::changed);
    const auto content = bytes.subspan(r->bytes_of(m.unit, i), r->bytes_of(one.unit));
    if (outcome == release::update_outcome::merge) {
      core_.diffs.merge(*r, one.unit, content);
    } else {
      base::copy_words(r->system(one.unit), content.data(), content.size());
    }
  }
  core_.perform_steps();
}

}  // namespace quire::core
