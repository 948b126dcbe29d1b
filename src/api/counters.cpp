// SPDX-License-Identifier: BSD-3-Clause
#include "api/counters.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "api/forward.hpp"
#include "api/sites.hpp"
#include "api/versions.hpp"

namespace quire::api {

void fill(const runtime& r, quire_counters& out) noexcept {
  const auto p = core::sequential_counters(r.core->regions, r.core->gone);
  auto& e = r.core->count;
  const auto& t = r.core->wire.counters();
  out.read_faults = p.read_faults;
  out.write_faults = p.write_faults;
  out.upgrade_faults = p.upgrade_faults;
  out.local_faults = p.local_faults;
  out.racing_faults = p.racing_faults;
  out.competing_requests = p.competing_requests;
  out.invalidations = p.invalidations;
  out.read_ahead_units = p.read_ahead_units;
  out.read_ahead_wasted = p.read_ahead_wasted;
  // Not those by which nodes watch each other: they depend on the time that passes, not on what the program does.
  const auto& w = r.core->watching.count();
  const std::uint64_t pings_out = w.sent.load(std::memory_order_relaxed), pings_in = w.received.load(std::memory_order_relaxed);
  out.messages_sent = t.messages_sent - pings_out;
  out.bytes_sent = t.bytes_sent - pings_out * w.message_bytes;
  out.messages_received = t.messages_received - pings_in;
  out.bytes_received = t.bytes_received - pings_in * w.message_bytes;
  out.fault_ns = e.fault_ns.load(std::memory_order_relaxed);
  out.barrier_ns = e.barrier_ns.load(std::memory_order_relaxed);
  out.lock_ns = e.lock_ns.load(std::memory_order_relaxed);
  out.barriers = e.barriers.load(std::memory_order_relaxed);
  out.locks = e.locks.load(std::memory_order_relaxed);
  out.atomics = p.atomics;
  out.double_faults = p.double_faults;
  out.exclusive_reads = p.exclusive_reads;
  out.exclusive_wasted = p.exclusive_wasted;
  const auto c = core::release_counters(r.core->regions, r.core->gone);
  const auto& n = r.core->consistency;
  const auto& d = r.core->diffs.count();
  out.read_faults += c.read_faults;
  out.write_faults += c.write_faults;
  out.local_faults += c.local_faults;
  out.racing_faults += c.racing_faults;
  out.invalidations += c.invalidations;
  out.read_ahead_units += c.read_ahead_units;
  out.read_ahead_wasted += c.read_ahead_wasted;
  out.atomics += c.atomics;
  out.pins = p.pins + c.pins;
  out.pin_waits = p.pin_waits + c.pin_waits;
  out.intervals = n.intervals();
  out.twins = c.twins;
  out.diffs = d.diffs;
  out.diff_bytes = d.bytes;
  out.notices_sent = n.count().notices_sent;
  out.notices_heard = n.count().notices_heard;
  out.home_moves = c.home_moves;
  out.forwarded = c.forwarded;
  const auto& m = r.core->frames.count;
  out.copies_dropped = p.copies_dropped + c.copies_dropped;
  out.paged_to_nodes = m.units_given;
  out.paged_to_disk = m.units_written;
  out.paged_from_disk = m.units_read;
  out.most_memory = m.most_bytes;
  out.replicas_sent = p.replicas_sent;
  out.replica_waits = p.replica_waits;
  out.replica_rounds = r.core->replicas.traffic.rounds.ended;
  out.updates_sent = c.updates_sent;
  out.updates_applied = c.updates_applied;
  out.units_kept = c.kept;
  out.connections_refused = t.connections_refused;
  out.messages_refused = t.refused + e.refused.load(std::memory_order_relaxed);
  out.bad_frees = r.regions->bad_frees();
}

namespace {

template <class... Values>
void append(std::string& to, const char* format, Values... values) {
  char text[512];
  const int length = std::snprintf(text, sizeof text, format, values...);
  to.append(text, static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(sizeof text) - 1)));
}

/// Regions whose units threads of this node have waited for.
void add_regions(const runtime& r, std::string& json) {
  json += ",\"regions\":[";
  bool first = true;
  r.core->regions.for_each([&](const core::region_slot& slot) {
    const std::uint64_t faults = slot.waited.faults.load(std::memory_order_relaxed);
    if (faults == 0) return;
    append(json, "%s{\"region\":%u,\"address\":%lu,\"bytes\":%lu,\"unit_bytes\":%lu,\"release\":%s,\"faults\":%lu,\"writes\":%lu,\"ns\":%lu}",
           first ? "" : ",", unsigned{slot.about.id}, static_cast<unsigned long>(slot.about.base), static_cast<unsigned long>(slot.about.bytes),
           static_cast<unsigned long>(slot.layout.most_bytes()), slot.consistency() == QUIRE_RELEASE ? "true" : "false", static_cast<unsigned long>(faults),
           static_cast<unsigned long>(slot.waited.writes.load(std::memory_order_relaxed)),
           static_cast<unsigned long>(slot.waited.ns.load(std::memory_order_relaxed)));
    first = false;
  });
  json += ']';
}

/// The units that this node's threads have waited for most, and where this node has allocated what lies there.
void add_units(const runtime& r, std::string& json) {
  constexpr std::size_t most = 32;
  json += ",\"units\":[";
  bool first = true;
  for (const auto& one : r.core->faults.hot().most(most)) {
    const auto* const slot = r.core->regions.slot(model::region_id{one.region});
    if (slot == nullptr) continue;
    const std::uint64_t address = slot->address_of(one.unit);
    const auto known = sites::of(address, slot->bytes_of(one.unit));
    append(json, "%s{\"region\":%u,\"address\":%lu,\"faults\":%lu,\"writes\":%lu,\"ns\":%lu,\"blocks\":%lu,\"block_bytes\":%lu,\"calls\":[",
           first ? "" : ",", unsigned{one.region}, static_cast<unsigned long>(address), static_cast<unsigned long>(one.faults),
           static_cast<unsigned long>(one.writes), static_cast<unsigned long>(one.ns), static_cast<unsigned long>(known.blocks),
           static_cast<unsigned long>(known.bytes));
    for (std::size_t i = 0; i < known.calls.size(); ++i) {
      json += i == 0 ? "\"" : ",\"";
      for (const char c : known.calls[i]) {
        if (c == '"' || c == '\\') json += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) json += c;
      }
      json += '"';
    }
    json += "]}";
    first = false;
  }
  json += ']';
}

}  // namespace

std::string counters_json(const runtime& r) {
  quire_counters c{};
  fill(r, c);
  const std::pair<const char*, std::uint64_t> rows[] = {
      {"read_faults", c.read_faults}, {"write_faults", c.write_faults}, {"upgrade_faults", c.upgrade_faults},
      {"local_faults", c.local_faults}, {"racing_faults", c.racing_faults}, {"competing_requests", c.competing_requests},
      {"invalidations", c.invalidations}, {"read_ahead_units", c.read_ahead_units},
      {"read_ahead_wasted", c.read_ahead_wasted}, {"messages_sent", c.messages_sent}, {"bytes_sent", c.bytes_sent},
      {"messages_received", c.messages_received}, {"bytes_received", c.bytes_received}, {"fault_ns", c.fault_ns},
      {"barrier_ns", c.barrier_ns}, {"lock_ns", c.lock_ns}, {"barriers", c.barriers}, {"locks", c.locks},
      {"atomics", c.atomics}, {"double_faults", c.double_faults},
      {"exclusive_reads", c.exclusive_reads}, {"exclusive_wasted", c.exclusive_wasted},
      {"pins", c.pins}, {"pin_waits", c.pin_waits},
      {"intervals", c.intervals}, {"twins", c.twins}, {"diffs", c.diffs}, {"diff_bytes", c.diff_bytes},
      {"notices_sent", c.notices_sent}, {"notices_heard", c.notices_heard}, {"home_moves", c.home_moves},
      {"forwarded", c.forwarded}, {"copies_dropped", c.copies_dropped}, {"paged_to_nodes", c.paged_to_nodes},
      {"paged_to_disk", c.paged_to_disk}, {"paged_from_disk", c.paged_from_disk}, {"most_memory", c.most_memory},
      {"updates_sent", c.updates_sent}, {"updates_applied", c.updates_applied}, {"units_kept", c.units_kept},
      {"replicas_sent", c.replicas_sent}, {"replica_waits", c.replica_waits}, {"replica_rounds", c.replica_rounds},
      {"connections_refused", c.connections_refused}, {"messages_refused", c.messages_refused},
      {"bad_frees", c.bad_frees}};
  std::string json = "{";
  for (const auto& [name, value] : rows) {
    if (json.size() > 1) json += ',';
    json += '"';
    json += name;
    json += "\":" + std::to_string(value);
  }
  add_regions(r, json);
  add_units(r, json);
  return json + "}";
}

}  // namespace quire::api

namespace {
quire_status read_all(quire_counters* all) {
  QUIRE_FORWARD(read_all, all);
  QUIRE_ENTER(r);
  quire::api::fill(*r, *all);
  return QUIRE_OK;
}
}  // namespace

quire_status quire_counters_read(quire_counters* counters) {
  QUIRE_STARTED();
  if (counters == nullptr) return quire::base::explain(QUIRE_INVALID, "quire_counters_read(): the place for the counters is NULL");
  if (!quire::api::has_known_size(counters, "quire_counters_read", "quire_counters")) return QUIRE_INVALID;
  quire_counters all{};
  if (const auto why = read_all(&all); why != QUIRE_OK) return why;
  all.size = counters->size;
  std::memcpy(counters, &all, all.size);
  return QUIRE_OK;
}
