// SPDX-License-Identifier: BSD-3-Clause
#include "api/counters.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "runtime/forward.hpp"
#include "report/json.hpp"
#include "report/sharing.hpp"
#include "report/sites.hpp"
#include "api/versions.hpp"
#include "base/fault_heap.hpp"
#include "core/counter_table.hpp"
#include "core/hot_units.hpp"
#include "core/region_slot.hpp"

namespace quire::api {
namespace {

/// Driver's thread: a region that goes takes its machines along.
core::counter_sources gather(const runtime& r) noexcept {
  core::counter_sources all = core::sources_of(*r.core);
  all.bad_frees = r.regions->bad_frees();
  return all;
}

struct waited_region {
  std::uint64_t id = 0, address = 0, bytes = 0, unit_bytes = 0;
  bool release = false;
  std::uint64_t faults = 0, writes = 0, ns = 0;
};

/// Regions whose units threads of this node have waited for. Driver's thread.
base::fault_vector<waited_region> waited_regions(const runtime& r) noexcept {
  base::fault_vector<waited_region> all;
  r.core->regions.for_each([&](const core::region_slot& slot) {
    const auto now = [](const std::atomic<std::uint64_t>& count) { return count.load(std::memory_order_relaxed); };
    if (now(slot.waited.faults) == 0) return;
    all.push_back({slot.about.id, slot.about.base, slot.about.bytes, slot.layout.most_bytes(),
                   slot.consistency() == QUIRE_RELEASE, now(slot.waited.faults), now(slot.waited.writes),
                   now(slot.waited.ns)});
  });
  return all;
}

void add_regions(std::string& json, const base::fault_vector<waited_region>& all) {
  json += ",\"regions\":[";
  bool first = true;
  for (const waited_region& one : all) {
    append(json,
           "%s{\"region\":%lu,\"address\":%lu,\"bytes\":%lu,\"unit_bytes\":%lu,\"release\":%s,\"faults\":%lu,"
           "\"writes\":%lu,\"ns\":%lu",
           first ? "" : ",", static_cast<unsigned long>(one.id), static_cast<unsigned long>(one.address),
           static_cast<unsigned long>(one.bytes), static_cast<unsigned long>(one.unit_bytes),
           one.release ? "true" : "false", static_cast<unsigned long>(one.faults),
           static_cast<unsigned long>(one.writes), static_cast<unsigned long>(one.ns));
    append_static_place(json, one.address);
    json += '}';
    first = false;
  }
  json += ']';
}

struct waited_unit {
  core::hot_units::item waits;
  std::uint64_t address = 0, bytes = 0;  ///< no bytes: the region has gone
};

/// The units that this node's threads have waited for most.
std::vector<waited_unit> waited_units(const runtime& r) {
  constexpr std::size_t most = 32;
  std::vector<waited_unit> all;
  for (const auto& one : r.core->hot.most(most)) all.push_back({one});
  r.core->as_driver([&] {
    for (waited_unit& one : all) {
      const auto* const slot = r.core->regions.slot(model::region_id{one.waits.region});
      // A thread that waited for a unit of a region that has gone may count it when the next of that number is there.
      if (slot == nullptr || one.waits.unit >= slot->layout.units()) continue;
      one.address = slot->address_of(one.waits.unit);
      one.bytes = slot->bytes_of(one.waits.unit);
    }
  });
  return all;
}

/// And where this node has allocated what lies there.
void add_units(std::string& json, const std::vector<waited_unit>& all) {
  json += ",\"units\":[";
  bool first = true;
  for (const waited_unit& one : all) {
    if (one.bytes == 0) continue;
    const auto known = sites::of(one.address, one.bytes);
    append(json,
           "%s{\"region\":%u,\"address\":%lu,\"faults\":%lu,\"writes\":%lu,\"ns\":%lu,\"blocks\":%lu,\"block_bytes\":%"
           "lu,\"calls\":[",
           first ? "" : ",", unsigned{one.waits.region}, static_cast<unsigned long>(one.address),
           static_cast<unsigned long>(one.waits.faults), static_cast<unsigned long>(one.waits.writes),
           static_cast<unsigned long>(one.waits.ns), static_cast<unsigned long>(known.blocks),
           static_cast<unsigned long>(known.bytes));
    for (std::size_t i = 0; i < known.calls.size(); ++i) {
      if (i != 0) json += ',';
      append_text(json, known.calls[i]);
    }
    json += ']';
    append_static_place(json, one.address);
    json += '}';
    first = false;
  }
  json += ']';
}

void add_messages(std::string& json, const wire_account& messages) {
  if (messages.kind.empty()) return;
  json += ",\"transport\":";
  append_text(json, messages.kind);
  json += ",\"transport_why\":";
  append_text(json, messages.why);
}

}  // namespace

void fill(const runtime& r, quire_counters& out) noexcept {
  core::counter_sources numbers;
  r.core->as_driver([&] { numbers = gather(r); });
  core::read_counters(numbers, out);
}

std::string counters_json(const runtime& r) {
  core::counter_sources numbers;
  base::fault_vector<waited_region> regions;
  r.core->as_driver([&] {
    numbers = gather(r);
    regions = waited_regions(r);
  });
  std::string json = "{";
  for (const core::counter_row& row : core::counter_table) {
    json += json.size() > 1 ? ",\"" : "\"";
    json += row.name;
    json += "\":" + std::to_string(row.value(numbers));
  }
  add_regions(json, regions);
  add_units(json, waited_units(r));
  add_sharing(json, r);
  add_messages(json, r.messages);
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
  if (counters == nullptr)
    return quire::base::explain(QUIRE_INVALID, "quire_counters_read(): the place for the counters is NULL");
  if (!quire::api::has_known_size(counters, "quire_counters_read", "quire_counters")) return QUIRE_INVALID;
  quire_counters all{};
  if (const auto why = read_all(&all); why != QUIRE_OK) return why;
  all.size = counters->size;
  std::memcpy(counters, &all, all.size);
  return QUIRE_OK;
}
