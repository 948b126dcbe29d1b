// SPDX-License-Identifier: BSD-3-Clause
// Messages in: content has landed in the system view, machines take the message, replies leave.
#include "core/inbox.hpp"

#include <cstring>

#include "base/log.hpp"
#include "core/core.hpp"
#include "core/payloads.hpp"
#include "sync/kinds.hpp"

namespace quire::core {

using model::message;
using model::message_kind;

namespace {
bool is_of_memory(message_kind k) noexcept {
  return k == message_kind::diffs || k == message_kind::diffs_ack || k == message_kind::notices || k == message_kind::room ||
         k == message_kind::spread || k == message_kind::spread_ack || k == message_kind::spread_done;
}
bool is_of_units(message_kind k) noexcept {
  return k > message_kind::invalid && k < message_kind::sync_first;
}
}  // namespace

void inbox::deliver(const message& m) noexcept {
  core_.watching.heard(m.from);
  if (m.payload_bytes == 0) {  // else place() has looked at it
    if (const char* const why = fault_of(m); why != nullptr) refuse(m, why);
  }
  if (m.kind == message_kind::diffs || m.kind == message_kind::patch) return core_.diffs.deliver(m);
  if (m.kind == message_kind::update) {
    return updates_.with(m, [&](std::span<const std::byte> content) { handle_update(m, content); });
  }
  if (m.kind == message_kind::replica) {
    return core_.replicas.traffic.arriving.with(m, [&](std::span<const std::byte> content) { core_.replicas.on_content(m, content); });
  }
  if (m.kind == message_kind::spread) return core_.spread.deliver(m);
  if (payload_of(m.kind) == payload::piece && m.payload_bytes != 0) {
    return core_.objects.with_piece(m, [&](std::span<const std::byte> content) { handle(m, content); });
  }
  handle(m, std::span<const std::byte>(landing_).first(payload_of(m.kind) == payload::content ? 0 : m.payload_bytes));
}

void inbox::peer_lost(model::node_id peer) noexcept { core_.watching.lost(peer); }

void inbox::handle(const message& m, std::span<const std::byte> value) noexcept {
  if (core_.config.survives && core_.survival.take_recovery(m, value)) return;
  if (is_of_memory(m.kind)) {
    handle_memory(m, value);
  } else if (is_of_units(m.kind)) {
    handle_units(m);
  } else if (m.kind >= message_kind::sync_first && m.kind <= message_kind::sync_last) {
    core_.objects.on_message(m, value);
  } else if (m.kind == message_kind::watch) {
    core_.watching.on_message(m);
  } else if (m.kind != message_kind::recovery) {
    core_.services.on_message(m, value);
  }
}

/// A change of consistency tells nodes things that may come before they have changed over themselves.
model::machine& inbox::machine_for(region_slot& r, message_kind k) noexcept {
  if (k == message_kind::home_move && r.made.release != nullptr) return *r.made.release;
  if (k == message_kind::owner_here && r.made.sequential != nullptr) return *r.made.sequential;
  return *r.machine;
}

void inbox::handle_units(const message& m) noexcept {
  region_slot* const r = core_.regions.slot(m.region);
  if (r == nullptr || !lies_in(*r, m)) refuse(m, "there are no such units");
  core_.stamp(fault_trace::point::received, m.region.value(), m.unit);
  if (!is_of_call(m.kind)) r->change.received += m.count;
  if (m.kind == message_kind::please_take) return core_.paging.take_over(*r, m);
  if (m.kind == message_kind::home_offer) return core_.paging.take_homes(*r, m);
  if (payload_of(m.kind) == payload::content && m.payload_bytes != 0) core_.frames.landed(*r, m.unit, m.count);
  if (m.kind == message_kind::pin_grant) core_.consistency.acquire_pin(m.from, m.region, m.unit);
  model::machine& machine = machine_for(*r, m.kind);
  message one = m;
  one.count = 1;
  for (std::uint32_t i = 0; i < m.count; ++i) {
    one.unit = m.unit + i;
    core_.actions.clear();
    machine.on_message(one, core_.actions);
    core_.performer.take(*r, core_.actions);
  }
  core_.stamp(fault_trace::point::decided, m.region.value(), m.unit);
  core_.performer.flush();
}

void inbox::handle_memory(const message& m, std::span<const std::byte> value) noexcept {
  if (m.kind == message_kind::room) return core_.paging.on_room(m);
  if (m.kind == message_kind::diffs_ack) return core_.diffs.on_ack(m);
  if (m.kind == message_kind::spread_ack) return core_.spread.on_ack(m);
  if (m.kind == message_kind::spread_done) return core_.calls.on_spread_done(m);
  if (m.kind == message_kind::diffs) return core_.diffs.on_diffs(m, value);
  if (!core_.consistency.on_notices(m.from, value)) refuse(m, "its notices are none");
}

/// Threads may read the units meanwhile: what they may look at does not change by it.
void inbox::handle_update(const message& m, std::span<const std::byte> bytes) noexcept {
  region_slot* const r = core_.regions.slot(m.region);
  r->change.received += m.count;
  if (r->release == nullptr) return;  // an offer from before the region's consistency changed
  message one = m;
  one.count = 1;
  for (std::uint32_t i = 0; i < m.count; ++i) {
    one.unit = m.unit + i;
    core_.actions.clear();
    const auto outcome = r->release->on_update(one, core_.actions);
    if (core_.actions.size() != 0) core_.performer.take(*r, core_.actions);
    if (outcome == release::update_outcome::drop) continue;
    core_.frames.use(*r, one.unit, 1, content::changed);
    const auto content = bytes.subspan(r->bytes_of(i), r->bytes_of(1));
    if (outcome == release::update_outcome::merge) {
      core_.diffs.merge(*r, one.unit, content);
    } else {
      std::memcpy(r->system(one.unit), content.data(), content.size());
    }
  }
  core_.performer.flush();
}

}  // namespace quire::core
