// SPDX-License-Identifier: BSD-3-Clause
// A node is dead. What survivors are promised (README.md, Deaths): a unit whose home lives has all that survivors have
// written; one whose home is dead goes on from the copy of a survivor that has all that survivors wrote and heard of,
// and is lost if there is none. Nobody goes on with less.
//
// cut() for all units, and node::cut(), which tells all that this node knows or has written; absorb() for what was
// sent before its sender knew; then node::acquire(), by which copies that are older than anything told count no more;
// report(), settle() by the unit's manager, mend(), and node::rebuild(). From then on no node has a copy, all homes
// have all, and nothing that was told before means anything: as at the beginning, but for where homes are.
#include "protocol/release/loss.hpp"

#include <bit>

namespace quire::release {

using model::action_kind;
using model::message_kind;

namespace {
/// Of a report.
constexpr std::uint64_t is_home = 1, has_copy = 2, asks = 4, is_lost = 8;
constexpr unsigned since_shift = 8;  ///< a home: claim::own_since
constexpr std::uint8_t several = 255;

constexpr std::uint64_t bit(node_id n) noexcept { return std::uint64_t{1} << n.value(); }
constexpr std::uint8_t named(node_id n) noexcept { return static_cast<std::uint8_t>(n.value() + 1); }
constexpr node_id node_of(std::uint8_t name) noexcept { return node_id{static_cast<std::uint16_t>(name - 1)}; }
constexpr void add_name(std::uint8_t& to, std::uint64_t name) noexcept {
  if (name != 0 && to != name) to = to == 0 ? static_cast<std::uint8_t>(name) : several;
}
}  // namespace

/// Nothing is under way any more. Threads that wait are woken, to try again when all is over.
void losses::cut(std::uint64_t unit, actions& out) {
  CHECK(table_.shape.members != nullptr && table_.shape.nodes.exact());
  claim& c = table_.claims[unit];
  c = {.own_since = c.own_since, .lost = c.lost};
  unit_state& s = table_.units[unit];
  if (s.touched == 0) return;
  CHECK(s.granted == 0 && s.pin_asked == 0 && s.kept == 0);
  if (s.is_home == 0 && s.valid == 0) s.follows = 0;
  s.asked = s.stale = s.withhold = s.read_ahead = s.useless = s.producing = 0;
  if (s.pending() == access::none) return;
  s.set_pending(access::none);
  --table_.outstanding;
  out.add(action_kind::wake, unit);
}

/// Requests and offers are dropped. What must not get lost is that a home has come here, and that an operation was
/// done.
void losses::absorb(const message& m, actions& out) {
  switch (m.kind) {
    case message_kind::home_move:
      homes_.on_home_move(m, out);
      table_.units[m.unit].news = 0;
      return table_.protect(m.unit, table_.units[m.unit], access::none, out);
    case message_kind::home_atomic_reply:
      out.add(action_kind::complete, m.unit).m = m;
      return;
    case message_kind::home_lost:
      return on_home_lost(m, out);
    default:
      return;
  }
}

void losses::owes(std::uint64_t unit, node_id writer) {
  table_.used.add(unit);
  add_name(table_.claims[unit].own_owes, named(writer));
}

void losses::holds_back(std::uint64_t unit, node_id writer) {
  table_.used.add(unit);
  add_name(table_.claims[unit].own_held, named(writer));
}

bool losses::takes_old(std::uint64_t unit) const noexcept { return table_.is_home(unit); }

void losses::on_taken(std::uint64_t unit) {
  unit_state& s = table_.touch(unit);
  s.assigned = s.written = 1;
}

/// To the unit's manager, which may be this node.
void losses::report(std::uint64_t unit, actions& out) {
  const unit_state& s = table_.units[unit];
  const claim& c = table_.claims[unit];
  const node_id manager = table_.manager_of(unit);
  if (c.lost == 0 && s.touched == 0 && table_.shape.managers.of(unit) == table_.shape.self) return;
  const bool home = s.touched != 0 && s.is_home != 0;
  message m;
  m.kind = message_kind::home_survives;
  m.unit = unit;
  m.requester = table_.shape.self;
  if (c.lost != 0) m.a |= is_lost;
  if (home) m.a |= is_home | std::uint64_t{c.own_since} << since_shift;
  if (!home && s.valid != 0 && s.news == 0) m.a |= has_copy;
  if (s.twin != 0 || c.own_owes != 0 || c.own_held != 0) m.a |= asks;
  m.b = c.own_owes;
  m.c = c.own_held;
  if (m.a == 0) return;
  if (manager == table_.shape.self) return on_home_survives(m);
  table_.send(manager, m, false, out);
}

void losses::on_home_survives(const message& m) {
  table_.used.add(m.unit);
  claim& c = table_.claims[m.unit];
  if ((m.a & is_lost) != 0) c.lost = 1;
  if ((m.a & is_home) != 0) add_home(c, m.requester, static_cast<std::uint8_t>(m.a >> since_shift));
  if ((m.a & has_copy) != 0) c.copies |= bit(m.requester);
  if ((m.a & asks) != 0) c.asks |= bit(m.requester);
  add_name(c.owes, m.b);
  if (!is_dead(static_cast<std::uint8_t>(m.c))) add_name(c.held, m.c);
}

bool losses::is_dead(std::uint8_t name) const noexcept {
  return name != 0 && name != several && table_.shape.members->is_dead(node_of(name));
}

/// A node that was home before may not have heard yet that another was chosen, as a further death cut that short.
void losses::add_home(claim& c, node_id who, std::uint8_t since) const noexcept {
  if (c.home != 0) c.asks |= bit(node_of(c.home)) | bit(who);
  if (c.home != 0 && since < c.home_since) return;
  c.home = named(who);
  c.home_since = since;
}

/// All reports are here. A home that survives has all, but for diffs that went to it by way of the dead. Else any copy
/// is as good as the others that count.
void losses::decide(std::uint64_t unit, claim& c) const noexcept {
  const bool implied = table_.units[unit].touched == 0 && table_.shape.managers.of(unit) == table_.shape.self;
  if (implied && c.home == 0) c.home = named(table_.shape.self);
  // A diff that is held back may come to the home after a newer one of its writer, whose copy has both.
  const bool may_overtake = c.held == several || (c.held != 0 && ((c.copies | c.asks) & bit(node_of(c.held))) != 0);
  if (c.home == 0 || may_overtake) add_name(c.owes, c.held);
  if (c.home == 0 && is_dead(c.owes)) c.owes = 0;  // only copies count that have it, if anybody was told
  if (c.owes != 0) {
    const bool has_it = c.owes != several && (c.owes == c.home || (c.copies & bit(node_of(c.owes))) != 0);
    c.at = has_it ? c.owes : named(table_.shape.self);
    c.how = has_it ? outcome::chosen : outcome::lost;
  } else if (c.home != 0) {
    c.at = c.home;
    c.how = outcome::kept;
  } else if (c.copies != 0) {
    c.at = static_cast<std::uint8_t>(__builtin_ctzll(c.copies) + 1);
    c.how = outcome::chosen;
  } else {
    c.at = named(table_.shape.self);
    c.how = outcome::lost;
  }
}

void losses::settle(std::uint64_t unit, actions& out) {
  if (table_.manager_of(unit) != table_.shape.self) return;
  claim& c = table_.claims[unit];
  const bool reported = c.home != 0 || c.copies != 0 || c.asks != 0 || c.lost != 0;
  const unit_state& s = table_.units[unit];
  if (!reported && s.touched == 0 && table_.shape.managers.of(unit) == table_.shape.self)
    return;  // as at the beginning
  if (c.lost != 0) {
    c.at = named(table_.shape.self);
    c.how = outcome::lost;
  } else {
    decide(unit, c);
  }
  std::uint64_t told = c.asks;
  if (c.how != outcome::kept && c.home != 0) told |= bit(node_of(c.home));
  if (c.how == outcome::chosen) told |= bit(node_of(c.at));
  for (told &= ~bit(table_.shape.self); told != 0; told &= told - 1) {
    message m;
    m.kind = message_kind::home_settled;
    m.unit = unit;
    m.requester = node_of(c.at);
    m.a = static_cast<std::uint64_t>(c.how);
    table_.send(node_id{static_cast<std::uint16_t>(__builtin_ctzll(told))}, m, false, out);
  }
}

void losses::on_home_settled(const message& m) {
  table_.used.add(m.unit);
  claim& c = table_.claims[m.unit];
  c.at = named(m.requester);
  c.how = m.a <= static_cast<std::uint64_t>(outcome::lost) ? static_cast<outcome>(m.a) : outcome::lost;
}

/// What threads have changed in it is told to the home.
void losses::give_up_copy(std::uint64_t unit, unit_state& s, node_id home, bool lost, actions& out) {
  table_.protect(unit, s, access::none, out);
  s.is_home = 0;
  s.home = home;
  s.moves = home == table_.manager_of(unit) ? 0 : 1;
  if (s.twin != 0) lost ? rights_.drop_twin(unit, s, out) : rights_.send_diff(unit, s, false, out);
}

void losses::mend(std::uint64_t unit, actions& out) {
  claim& c = table_.claims[unit];
  unit_state& s = table_.units[unit];
  if (s.touched == 0 && c.at == 0) return;
  const node_id self = table_.shape.self, manager = table_.manager_of(unit);
  if (c.how == outcome::lost) c.lost = 1;
  if (c.how == outcome::chosen && node_of(c.at) == self)
    c.own_since = static_cast<std::uint8_t>(std::popcount(table_.shape.members->dead));
  const bool lost = c.lost != 0;
  const node_id home = lost ? manager : c.at != 0 ? node_of(c.at) : s.touched != 0 && s.is_home != 0 ? self : manager;
  if (home != self || lost) {
    give_up_copy(unit, s, home, lost, out);
  } else if (s.twin != 0) {
    rights_.drop_twin(unit, s, out);  // the content has what it would say
  }
  unit_state now{};
  now.touched = 1;
  now.version = no_version;
  now.home = home;
  now.is_home = home == self ? 1 : 0;
  now.moves = home == manager ? 0 : 1;
  now.was_home = manager == self && home != self ? 1 : 0;  // all others believe it is
  now.assigned = home == self && !lost && s.touched != 0 ? s.assigned : 1;
  // Frames of others may have another content than that of a copy that was never written.
  now.written = c.how == outcome::chosen ? 1 : s.written;
  now.listed = s.listed;
  now.mapped_ = s.mapped_;
  s = now;
}

void losses::on_home_lost(const message& m, actions& out) {
  const auto asked = static_cast<message_kind>(m.operation);
  unit_state& s = table_.touch(m.unit);
  table_.claims[m.unit].lost = 1;
  if (asked == message_kind::home_atomic) {
    out.add(action_kind::complete, m.unit).m = m;
    return;
  }
  s.asked = 0;
  if (s.pending() == access::none) return;
  s.set_pending(access::none);
  s.withhold = s.read_ahead = s.stale = s.follows = 0;
  --table_.outstanding;
  out.add(action_kind::wake, m.unit);
}

}  // namespace quire::release
