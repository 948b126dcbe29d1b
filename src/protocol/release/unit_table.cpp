// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/unit_table.hpp"

#include <algorithm>

namespace quire::release {

using model::action_kind;

unit_state& unit_table::touch(std::uint64_t unit) noexcept {
  CHECK(unit < shape.units);
  unit_state& s = units[unit];
  if (s.touched == 0) {
    used.add(unit);
    s.touched = 1;
    s.version = no_version;
    s.home = first_home_of(unit);
    s.is_home = s.home == shape.self ? 1 : 0;
    s.assigned = shape.first_touch ? 0 : 1;
    if (s.is_home != 0 && shape.managers.of(unit) != shape.self) claims[unit].lost = s.assigned = 1;
  }
  return s;
}

void unit_table::send(node_id to, const message& m, bool with_content, actions& out) const {
  auto& a = out.add(action_kind::send, m.unit);
  a.to = to;
  a.m = m;
  a.m.region = shape.region;
  a.m.from = shape.self;
  a.with_content = with_content;
}

void unit_table::refuse_lost(const message& m, actions& out) const {
  message r;
  r.kind = model::message_kind::home_lost;
  r.unit = m.unit;
  r.requester = m.requester;
  r.token = m.token;
  r.operation = static_cast<std::uint32_t>(m.kind);
  send(m.requester, r, false, out);
}

/// To where the home is, as far as is known here.
void unit_table::send_home(const message& m, actions& out) const {
  const way w = way_of(m.unit);
  message stamped = m;
  stamped.acks = w.moves;
  send(w.to, stamped, false, out);
}

/// Whether a message for the home has come to its end. The home may have been here before: then diffs may be on their
/// way that came when it was not, and went on. Until they are back, what comes from who has not heard that the home is
/// here takes the same way, behind them.
bool unit_table::is_for_here(const unit_state& s, node_id requester, std::uint16_t moves) const noexcept {
  if (s.is_home == 0) return false;
  return s.was_home == 0 || open.passing == 0 || moves == s.moves || requester == shape.self;
}

/// Who once was the home knows where it went, so that a request gets there, and each pair of nodes keeps its order.
bool unit_table::passes_on(const message& m, const unit_state& s, actions& out) {
  if (is_for_here(s, m.requester, static_cast<std::uint16_t>(m.acks))) return false;
  ++count.forwarded;
  send_home(m, out);
  return true;
}

void unit_table::permit(std::uint64_t unit, unit_state& s, access level, actions& out) const {
  if (s.mapped() >= level) return;
  auto& a = out.add(action_kind::permit, unit);
  a.from = s.mapped();
  a.level = level;
  a.fresh = s.written == 0 && s.mapped() == access::none;
  s.set_mapped(level);
  if (level == access::write && !shape.scans) s.written = 1;
}

void unit_table::protect(std::uint64_t unit, unit_state& s, access level, actions& out) const {
  if (s.mapped() <= level) return;
  const bool unseen = s.mapped() == access::write && s.twin == 0 && lone.is_unnoticed(unit, s);
  auto& a = out.add(action_kind::protect, unit);
  a.from = s.mapped();
  a.level = level;
  s.set_mapped(level);
  if (unseen) out.add(action_kind::unseen, unit);
}

/// From now on it is noticed whether threads of the home write; what they do in the open interval is, if the unit is
/// listed.
void unit_table::watch_writes(std::uint64_t unit, unit_state& s, actions& out) const {
  if (s.listed == 0 && s.kept == 0 && !shape.scans) protect(unit, s, access::read, out);
}

void unit_table::list(std::uint64_t unit, unit_state& s) {
  s.producing = 0;
  if (s.listed != 0) return;
  s.listed = 1;
  open.written.push_back({shape.region, unit});
}

/// Nodes that send through this one count on the way that their messages take from here: a request must not overtake a
/// diff (I9).
void unit_table::believe(unit_state& s, node_id home, std::uint16_t moves) const noexcept {
  if (!is_newer(moves, s.moves) || open.passing != 0) return;
  s.home = home;
  s.moves = moves;
}

/// Whether `current` has all there is to know: copies are not given up without a word, there are not too many nodes,
/// and all writes of the home are known (where they are found by scans, only if the unit is not mapped).
bool unit_table::knows_copies(const unit_state& s) const noexcept {
  return shape.nodes.exact() && !shape.pages_out && (!shape.scans || s.mapped() == access::none);
}

bool unit_table::awaits_homes() const noexcept {
  return std::ranges::any_of(open.unacknowledged, [](std::uint32_t diffs) { return diffs != 0; });
}

/// Whether the home may move (I10), as far as the unit tells: nobody counts on its being here, no request of this
/// node's from before it came is on its way, and nothing that it has passed on. That no diff of this node is on its way
/// is for the callers to see.
bool unit_table::may_leave(const unit_state& s) const noexcept {
  // What threads here wrote under a pin is told by this node's next grant, and by nobody else's.
  const bool pins = s.granted != 0 || s.pin_asked != 0 || s.pin_ended != 0;
  const bool stays = homes_stay || checked || pins || s.kept != 0 || (shape.traces && s.twin != 0);
  return !stays && s.asked == 0 && open.passing == 0;
}

}  // namespace quire::release
