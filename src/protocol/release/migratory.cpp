// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/migratory.hpp"

#include <algorithm>

#include "model/neighbours.hpp"

namespace quire::release {

namespace {
constexpr unsigned first_row = 2, longest_row = 255, most_distrust = 5;
constexpr unsigned looked_at = 2;           ///< so many moves of a unit that has just begun to be migratory
constexpr std::uint16_t now_and_then = 16;  ///< and of so many later ones one
}  // namespace

/// A unit that is kept has the interval of its twin there, and does not move.
migratory_units::habit migratory_units::of(const unit_state& s) noexcept {
  if (s.is_home == 0 || s.kept != 0 || s.version == no_version) return {};
  return {static_cast<std::uint8_t>(s.version), static_cast<std::uint8_t>(s.version >> 8 & 0x7f),
          (s.version >> 15 & 1) != 0, static_cast<std::uint16_t>(s.version >> 16)};
}

void migratory_units::set(unit_state& s, habit h) noexcept {
  if (s.is_home == 0 || s.kept != 0) return;
  const unsigned goes_along = h.row | h.distrust << 8 | (h.unproven ? 1u : 0u) << 15;
  s.version = goes_along | std::uint32_t{h.since} << 16;
}

bool migratory_units::is_migratory(const habit& h) const noexcept {
  if (table_.shape.migratory == protocol::migratory::always) return true;
  return table_.shape.migratory != protocol::migratory::never && h.row >= first_row << h.distrust;
}

bool migratory_units::goes_along(unit_state& s) noexcept {
  habit h = of(s);
  if (!table_.shape.migrates || table_.shape.scans || !is_migratory(h)) return false;
  const bool asked_back = s.version != no_version && h.since == table_.open.releases;
  if ((h.unproven || asked_back) && s.mapped() != access::none) {
    h.row = 0;
    h.unproven = false;
    h.distrust = static_cast<std::uint8_t>(std::min<unsigned>(h.distrust + 1u, most_distrust));
    set(s, h);
    ++table_.count.migrated_unused;
    return false;
  }
  ++table_.count.migrated;
  if (!h.unproven) h.row = static_cast<std::uint8_t>(std::min(h.row + 1u, longest_row));
  h.unproven = true;
  set(s, h);
  return true;
}

bool migratory_units::ends_copy(unit_state& s, model::node_id to) noexcept {
  return is_migratory(count_writer(s, to)) && !table_.shape.scans;
}

bool migratory_units::waits_for_request(unit_state& s, model::node_id writer) noexcept {
  const bool learns = table_.shape.migratory != protocol::migratory::never && !table_.shape.scans;
  model::copyset others = s.readers;
  others.remove(table_.shape.nodes, writer);
  if (!learns || !others.empty() || of(s).row != 0) return false;
  (void)count_writer(s, writer);
  return true;
}

/// At the home, which is to go to the only writer of an epoch.
migratory_units::habit migratory_units::count_writer(unit_state& s, model::node_id writer) noexcept {
  habit h = of(s);
  model::copyset others = s.readers;
  others.remove(table_.shape.nodes, writer);
  if (!others.empty()) h.row = 0;
  h.row = static_cast<std::uint8_t>(std::min(h.row + 1u, longest_row));
  h.unproven = false;
  set(s, h);
  return h;
}

void migratory_units::note_push(unit_state& s) noexcept {
  habit h = of(s);
  h.row = 0;
  set(s, h);
}

std::uint64_t migratory_units::told(const unit_state& s, bool alone) noexcept {
  return (s.version == no_version ? 0 : s.version & 0xffff) | (alone ? alone_bit : 0);
}

void migratory_units::came(unit_state& s, const message& m) noexcept {
  if (s.kept != 0) return;
  s.version = static_cast<std::uint32_t>(m.c & 0xffff);
  habit h = of(s);
  h.distrust = static_cast<std::uint8_t>(std::min<unsigned>(h.distrust, most_distrust));  // it came from elsewhere
  const bool asked_for = (m.flags & model::message_flag::take) != 0;
  h.since = static_cast<std::uint16_t>(table_.open.releases - (asked_for ? 0 : 1));
  const bool will_write = s.pending() == model::access::write;  // who asked for it ahead knows
  const bool often = h.row >= (first_row << h.distrust) + looked_at || is_spoken_for(m.unit, h);
  const bool looks = table_.shape.migratory != protocol::migratory::learned || !often || m.a % now_and_then == 0;
  if (asked_for && s.read_ahead != 0 && !will_write && looks) s.withhold = 1;
  h.unproven = h.unproven && looks && !(will_write && s.read_ahead != 0);
  set(s, h);
}

bool migratory_units::is_spoken_for(std::uint64_t unit, const habit& h) const noexcept {
  const std::uint64_t first = model::first_neighbour(unit);
  if (first == unit || h.distrust != 0) return false;
  const habit of_first = of(table_.units[first]);
  return of_first.row >= first_row && of_first.distrust == 0;
}

void migratory_units::note_write(unit_state& s) noexcept {
  habit h = of(s);
  if (!h.unproven) return;
  h.unproven = false;
  set(s, h);
}

bool migratory_units::is_unproven(const unit_state& s) noexcept { return of(s).unproven; }

}  // namespace quire::release
