// SPDX-License-Identifier: BSD-3-Clause
#include "record/tell.hpp"

#include <algorithm>
#include <cstring>

namespace quire::record {
namespace {

constexpr unsigned region_shift = 46;  // of unit_key::unit

void tell_sums(file_sums& to, const fault_sums& from) {
  for (int write = 0; write < 2; ++write) {
    to.faults[write] = from.faults[write];
    to.ns[write] = from.ns[write];
    to.lines[write] = from.lines[write];
  }
}

std::span<const segment> segments_of(const thread_record& t) {
  return std::span(t.memory).first(std::min(t.when.count(), segments_a_thread));
}

file_thread tell_thread(const thread_record& t, std::uint64_t begin_ns, std::uint64_t end_ns) {
  file_thread told;
  told.number = t.number;
  told.begin_ns = t.when.begin_ns() - std::min(begin_ns, t.when.begin_ns());
  told.resolution_ns = t.when.resolution_ns();
  std::uint64_t before = told.begin_ns;
  for (const segment& s : segments_of(t)) {
    segment& one = told.segments.emplace_back(s);
    one.end_ns = before = std::max(before, s.end_ns - std::min(begin_ns, s.end_ns));
  }
  for (std::size_t phase = 0; phase < t.phases.size(); ++phase) {
    phase_sums sums = t.phases[phase];
    if (t.phase == phase) sums.ns += end_ns - std::min(end_ns, t.phase_begin_ns);
    if (sums.ns != 0) told.phases.push_back({phase, sums.ns, sums.waited_ns});
  }
  t.units.for_each([&](const auto& p) {
    file_unit& u = told.units.emplace_back();
    u.region = p.key.unit >> region_shift;
    u.unit = p.key.unit & ((std::uint64_t{1} << region_shift) - 1);
    u.from.assign(p.key.from.begin(), p.key.from.end());
    tell_sums(u.sums, p.value);
  });
  t.sites.for_each([&](const auto& p) {
    file_site& s = told.sites.emplace_back();
    s.from.assign(p.key.from.begin(), p.key.from.end());
    tell_sums(s.sums, p.value);
  });
  return told;
}

file_heat tell_heat(const heat_of& h) {
  file_heat told{h.region.id, std::uint64_t{1} << h.map.piece_shift(), std::uint64_t{1} << h.map.column_shift(), {}};
  for (std::size_t row = 0; row < std::min(h.map.rows(), heat_rows); ++row) {
    file_row& to = told.rows.emplace_back();
    to.address = h.map.address(row);
    const auto& cells = h.map.row(row);
    for (std::size_t column = 0; column < cells.size(); ++column)
      if (cells[column] != 0) to.columns.insert(to.columns.end(), {column, cells[column]});
  }
  return told;
}

template <std::size_t Bytes>
std::string text_of(const std::array<char, Bytes>& name) {
  return {name.data(), ::strnlen(name.data(), Bytes)};
}

/// Addresses for the units of threads, where units lie one after the other.
void place_units(node_record& r) {
  for (file_thread& t : r.threads)
    for (file_unit& u : t.units)
      for (const file_region& region : r.regions)
        if (region.id == u.region && region.unit_bytes != 0 && u.unit < region.bytes / region.unit_bytes) {
          u.address = region.address + u.unit * region.unit_bytes;
          u.bytes = region.unit_bytes;
        }
}

}  // namespace

void tell(const memory& from, std::uint64_t end_ns, state_of_node state, node_record& to) {
  to.ns = end_ns - std::min(end_ns, from.begin_ns);
  to.met_ns = from.met_ns - std::min(from.met_ns, from.begin_ns);
  for (const thread_record& t : from.threads_in_use())
    if (state == state_of_node::is_dead || !t.busy.load(std::memory_order_acquire))
      to.threads.push_back(tell_thread(t, from.begin_ns, end_ns));
  for (std::size_t i = 0; i < waits; ++i) to.rest_ns[i] = from.rest[i].load(std::memory_order_relaxed);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(from.labels.load(std::memory_order_acquire), most_labels); ++i)
    to.labels.push_back({from.label_rows[i].address, from.label_rows[i].bytes, text_of(from.label_rows[i].name)});
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(from.phases.load(std::memory_order_acquire), most_phases); ++i)
    to.phases.push_back(text_of(from.phase_names[i]));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(from.nodes, from.peers.size()); ++i)
    to.peers.push_back({from.peers[i].messages, from.peers[i].bytes});
  for (const heat_of& h : from.heats)
    if (h.used && h.map.piece_shift() < 64 && h.map.column_shift() < 64) to.heats.push_back(tell_heat(h));
}

std::uint64_t last_ns(const memory& from) noexcept {
  std::uint64_t last = std::max(from.begin_ns, from.met_ns);
  for (const thread_record& t : from.threads_in_use()) {
    last = std::max(last, t.phase_begin_ns);
    if (const auto all = segments_of(t); !all.empty()) last = std::max(last, all.back().end_ns);
  }
  return last;
}

std::string memory_name(std::uint64_t node) { return "quire." + std::to_string(node) + ".memory"; }

bool tell_dead(const memory& from, node_record& to, std::string& why) {
  if (from.mark != mark_of_build) {
    why =
        "it is no memory of a node, or of another build of Quire: use the command that belongs to the program's "
        "libquire";
    return false;
  }
  if (from.about_bytes == 0 || from.about_bytes > from.about.size()) {
    why = "its node died before it had begun to record";
    return false;
  }
  if (!decode(std::span(from.about).first(from.about_bytes), to, why)) return false;
  tell(from, last_ns(from), state_of_node::is_dead, to);
  for (const heat_of& h : from.heats)
    if (h.used)
      to.regions.push_back(
          {h.region.id, h.region.address, h.region.bytes, h.region.unit_bytes, h.region.release ? 1u : 0u, {}});
  place_units(to);
  // What a thread was about to write when it died may be half there: the same checks as of a file.
  node_record checked;
  if (!decode(encode(to), checked, why)) return false;
  to = std::move(checked);
  return true;
}

}  // namespace quire::record
