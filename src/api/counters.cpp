// SPDX-License-Identifier: BSD-3-Clause
#include "api/counters.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "api/forward.hpp"
#include "api/sites.hpp"
#include "api/versions.hpp"
#include "core/counter_table.hpp"

namespace quire::api {
namespace {

core::counter_sources gather(const runtime& r) noexcept {
  core::counter_sources all = core::sources_of(*r.core);
  all.bad_frees = r.regions->bad_frees();
  return all;
}

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

void fill(const runtime& r, quire_counters& out) noexcept { core::read_counters(gather(r), out); }

std::string counters_json(const runtime& r) {
  const core::counter_sources numbers = gather(r);
  std::string json = "{";
  for (const core::counter_row& row : core::counter_table) {
    json += json.size() > 1 ? ",\"" : "\"";
    json += row.name;
    json += "\":" + std::to_string(row.value(numbers));
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
