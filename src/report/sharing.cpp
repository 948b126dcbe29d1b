// SPDX-License-Identifier: BSD-3-Clause
#include "report/sharing.hpp"

#include <algorithm>

#include "report/json.hpp"
#include "report/sites.hpp"
#include "core/region_slot.hpp"
#include "core/unit_calls.hpp"
#include "sharing/table.hpp"

namespace quire::api {
namespace {

constexpr std::size_t most_units = 64;  ///< that a node tells of
constexpr std::size_t most_named = 32;  ///< and whose allocations it asks for

struct told_unit {
  sharing::table::item uses;
  std::uint64_t address = 0, bytes = 0;  ///< no bytes: the region has gone
  bool release = false;
};

std::vector<told_unit> units_of(const runtime& r, std::size_t most) {
  std::vector<told_unit> all;
  for (const auto& one : r.core->sharing->most(most)) all.push_back({one});
  r.core->as_driver([&] {
    for (told_unit& one : all) {
      const auto* const slot = r.core->regions.slot(model::region_id{one.uses.region});
      if (slot == nullptr || one.uses.unit >= slot->layout.units()) continue;
      one.address = slot->address_of(one.uses.unit);
      one.bytes = slot->bytes_of(one.uses.unit);
      one.release = slot->consistency() == QUIRE_RELEASE;
    }
  });
  std::erase_if(all, [](const told_unit& one) { return one.bytes == 0; });
  return all;
}

/// Calls f(first, end) for each word of a unit that was used.
template <class F>
void for_each_used(const told_unit& one, F&& f) {
  const std::uint64_t each = sharing::word_bytes(one.bytes), end = one.address + one.bytes;
  for (unsigned word = 0; word < sharing::words; ++word)
    if (one.uses.writes[word] != 0 || one.uses.reads[word / sharing::words_a_line] != 0)
      f(std::min(one.address + word * each, end), std::min(one.address + (word + 1) * each, end));
}

/// [[0,17],[5,3]]: of those that are not zero.
template <class Counts>
void append_counts(std::string& json, const char* name, const Counts& counts) {
  append(json, ",\"%s\":[", name);
  bool first = true;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    append(json, "%s[%lu,%u]", first ? "" : ",", static_cast<unsigned long>(i), unsigned{counts[i]});
    first = false;
  }
  json += ']';
}

}  // namespace

void find_allocations(runtime& r) {
  if (r.core->sharing == nullptr) return;
  constexpr unsigned most_a_word = 8;  // of large units
  for (const told_unit& one : units_of(r, most_named)) {
    for_each_used(one, [&](std::uint64_t at, std::uint64_t end) {
      for (unsigned i = 0; at < end && i < most_a_word; ++i) {
        const auto known =
            std::ranges::find_if(r.allocations, [at](const heap::allocation& a) { return at - a.address < a.bytes; });
        if (known != r.allocations.end()) {
          at = known->address + known->bytes;
          continue;
        }
        const auto found = r.regions->around(at);
        if (!found.ok()) return;
        r.allocations.push_back(found.value());
        at = found.value().address + found.value().bytes;
      }
    });
  }
}

std::vector<record::file_use> uses_of_units(const runtime& r) {
  std::vector<record::file_use> all;
  if (r.core->sharing == nullptr) return all;
  constexpr std::size_t most = 256;
  for (const told_unit& one : units_of(r, most)) {
    record::file_use& told = all.emplace_back();
    told.region = one.uses.region;
    told.address = one.address;
    told.bytes = one.bytes;
    told.release = one.release ? 1 : 0;
    told.moves = one.uses.moves;
    told.ns = one.uses.ns;
    told.reads.assign(one.uses.reads.begin(), one.uses.reads.end());
    told.writes.assign(one.uses.writes.begin(), one.uses.writes.end());
    for (const heap::allocation& a : r.allocations)
      if (a.address < one.address + one.bytes && one.address < a.address + a.bytes)
        told.objects.push_back({a.address, a.address + a.bytes});
    told.calls = sites::of(one.address, one.bytes).calls;
    told.data = sites::static_place(one.address);
  }
  return all;
}

void add_sharing(std::string& json, const runtime& r) {
  if (!r.options.flag(base::option::sharing)) return;
  json += ",\"sharing\":[";
  bool first = true;
  for (const told_unit& one : units_of(r, most_units)) {
    append(json, "%s{\"region\":%u,\"address\":%lu,\"bytes\":%lu,\"release\":%s,\"moves\":%lu,\"ns\":%lu",
           first ? "" : ",", unsigned{one.uses.region}, static_cast<unsigned long>(one.address),
           static_cast<unsigned long>(one.bytes), one.release ? "true" : "false",
           static_cast<unsigned long>(one.uses.moves), static_cast<unsigned long>(one.uses.ns));
    append_counts(json, "reads", one.uses.reads);
    append_counts(json, "writes", one.uses.writes);
    json += ",\"objects\":[";
    unsigned objects = 0;
    for (const heap::allocation& a : r.allocations) {
      if (a.address >= one.address + one.bytes || one.address >= a.address + a.bytes) continue;
      append(json, "%s[%lu,%lu]", objects++ == 0 ? "" : ",", static_cast<unsigned long>(a.address),
             static_cast<unsigned long>(a.bytes));
    }
    json += "],\"calls\":[";
    const auto calls = sites::of(one.address, one.bytes).calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (i != 0) json += ',';
      append_text(json, calls[i]);
    }
    json += ']';
    append_static_place(json, one.address);
    json += '}';
    first = false;
  }
  json += ']';
}

}  // namespace quire::api
