// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/homes.hpp"

namespace quire::release {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

void homes::on_copy_request(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  if (m.requester == table_.shape.self) {  // asked before it became the home, and the home stays until this is back
    s.asked = 0;
    return;
  }
  if (table_.passes_on(m, s, out)) return;
  if (table_.is_lost(m.unit)) return table_.refuse_lost(m, out);
  if (grants_.must_wait(m.unit, s, m.requester)) return grants_.put_off(m);
  if (s.assigned == 0) return move_home(m.unit, s, m.requester, message_flag::fresh, out);
  if (may_give(m, s)) return move_home(m.unit, s, m.requester, message_flag::take, out);
  reply_with_copy(m, s, out);
}

void homes::reply_with_copy(const message& m, unit_state& s, actions& out) {
  if (table_.one_memory) return reply_with_frame(m, s, out);
  table_.watch_writes(m.unit, s, out);
  s.shared = 1;
  if (s.mapped() != access::write) s.current.add(table_.shape.nodes, m.requester);
  updates_.note_reader(s, m.requester);
  updates_.note_fetch(s, m.requester);
  message r;
  r.kind = message_kind::copy_reply;
  r.unit = m.unit;
  r.requester = m.requester;
  r.a = s.moves;
  r.b = table_.open.told;
  if (s.written == 0) r.flags |= message_flag::zero;
  if (s.kept != 0) r.flags |= message_flag::as_told;
  if (s.twin != 0 && table_.checked) {
    r.flags |= message_flag::base;
    table_.list(m.unit, s);  // the copy is old already
  }
  table_.send(m.requester, r, s.written != 0, out);
}

void homes::on_diff_ahead(std::uint64_t unit, actions& out) {
  if (!table_.shape.traces) return;
  unit_state& s = table_.touch(unit);
  if (s.is_home == 0) return;
  rights_.tell_base(unit, s, out);
  if (table_.lone.is_unnoticed(unit, s)) table_.protect(unit, s, access::read, out);
  table_.lone.end(unit);
}

/// The requester may write the frame from now on, and nobody hears of it (I12).
void homes::reply_with_frame(const message& m, unit_state& s, actions& out) {
  if (s.written != 0) ++table_.count.host_units;
  s.written = 1;
  message r;
  r.kind = message_kind::copy_reply;
  r.flags = message_flag::no_data;
  r.unit = m.unit;
  r.requester = m.requester;
  r.a = s.moves;
  r.b = table_.open.told;
  table_.send(m.requester, r, false, out);
}

diff_outcome homes::on_diff(std::uint64_t unit, node_id writer, std::uint16_t moves, bool begins) {
  unit_state& s = table_.touch(unit);
  if (!table_.is_for_here(s, writer, moves)) {
    ++table_.count.forwarded;
    ++table_.open.passing;
    return diff_outcome::forward;
  }
  if (writer == table_.shape.self) return diff_outcome::own;
  s.assigned = s.written = 1;
  if (table_.checked) return diff_outcome::collect;
  const bool keeps = s.current.may_contain(table_.shape.nodes, writer);
  s.current.clear();
  if (keeps) s.current.add(table_.shape.nodes, writer);
  s.readers.remove(table_.shape.nodes, writer);
  if (begins) count_streak(unit, s, writer, keeps);
  updates_.note_writer(unit, s, writer);
  return diff_outcome::apply;
}

/// A node that writes a unit in one interval after the other, between barriers, gets its home as the only writer of an
/// epoch does. `again`: its copy was as good as the content before.
void homes::count_streak(std::uint64_t unit, unit_state& s, node_id writer, bool again) {
  constexpr unsigned long_enough = 3;
  if (!table_.shape.migrates || !table_.shape.moves_between || table_.shape.scans || s.kept != 0) return;
  const bool same = again || (s.partnered != 0 && s.source == writer);
  s.streak = !same ? 0 : s.streak < long_enough ? s.streak + 1 : long_enough;
  if (s.streak == long_enough) table_.open.lone.push_back({{table_.shape.region, unit}, writer});
}

// ---- Atomic operations

/// A synchronisation point of its own: the engine releases before it and acquires after it. What it changes is news of
/// the home's (on_operated), which come with the reply; one that changes nothing, as threads do that wait for a value
/// by atomic operations, takes no copy away from anybody.
void homes::on_atomic(const message& call, actions& out) {
  ++table_.count.atomics;
  unit_state& s = table_.touch(call.unit);
  if (table_.is_lost(call.unit)) {
    auto& a = out.add(action_kind::complete, call.unit);
    a.m = call;
    a.m.kind = message_kind::home_lost;
    return;
  }
  if (s.is_home != 0) {
    message m = call;
    m.kind = message_kind::home_atomic;
    m.requester = table_.shape.self;
    return grants_.must_wait(m.unit, s, table_.shape.self) ? grants_.put_off(m) : operate_for(m, s, out);
  }
  s.producing = 0;
  message m = call;
  m.kind = message_kind::home_atomic;
  m.requester = table_.shape.self;
  table_.send_home(m, out);
}

void homes::on_atomic_reply(const message& m, actions& out) { out.add(action_kind::complete, m.unit).m = m; }

void homes::on_home_atomic(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  if (table_.passes_on(m, s, out)) return;
  if (table_.is_lost(m.unit)) return table_.refuse_lost(m, out);
  grants_.must_wait(m.unit, s, m.requester) ? grants_.put_off(m) : operate_for(m, s, out);
}

void homes::operate_for(const message& m, unit_state& s, actions& out) {
  s.assigned = 1;
  if (table_.checked) rights_.keep_base(m.unit, s, out);
  if (m.requester == table_.shape.self) {
    out.add(action_kind::operate_here, m.unit).m = m;
    return;
  }
  auto& a = out.add(action_kind::operate, m.unit);
  a.to = m.requester;
  a.m = m;
  a.m.kind = message_kind::home_atomic_reply;
  a.m.region = table_.shape.region;
  a.m.from = table_.shape.self;
}

void homes::on_operated(std::uint64_t unit) {
  unit_state& s = table_.touch(unit);
  CHECK(s.is_home != 0);
  rights_.write_here(unit, s);
}

// ---- Homes that move

/// `how`: fresh, take, or neither: `to` has a copy that is as good as the content.
void homes::move_home(std::uint64_t unit, unit_state& s, node_id to, std::uint8_t how, actions& out) {
  if (how == message_flag::take) {  // may be listed: the notice is this node's, wherever the content is
    if (table_.shape.scans) rights_.close_home(unit, s, out);
  } else {
    CHECK(s.mapped() != access::write && s.listed == 0);
  }
  if (table_.lone.is_unnoticed(unit, s)) table_.protect(unit, s, access::read, out);
  table_.lone.end(unit);
  ++table_.count.home_moves;
  const bool ends = how == 0 && migratory_.ends_copy(s, to);
  const std::uint64_t told = migratory_units::told(s, how == message_flag::take && s.shared == 0);
  s.is_home = s.shared = s.fetched = s.again = s.streak = 0;
  s.credit = s.grant = 0;
  s.readers.clear();
  home_updates::end_partnership(s);
  s.was_home = 1;
  s.current.clear();
  s.assigned = 1;
  // What the home has is a copy as good as any; but nobody may write what is on its way: now, or since the new home got
  // its copy. It would have, as the home's content, what no diff takes back.
  const bool stays = how == 0 && !table_.open.content_leaves && !ends;
  if (!stays) table_.protect(unit, s, access::none, out);
  s.valid = stays ? 1 : 0;
  s.version = how == message_flag::take ? given_away : no_version;
  s.home = to;
  s.moves = after(s.moves);
  message m;
  m.kind = message_kind::home_move;
  m.unit = unit;
  m.requester = to;
  m.a = s.moves;
  m.c = told;
  if (stays) m.b = model::copyset::of(table_.shape.nodes, table_.shape.self).bits();
  m.flags = how;
  if (s.written == 0) m.flags |= message_flag::zero;
  if (!stays) copies_.note_unused(s);
  table_.send(to, m, how == message_flag::take && s.written != 0, out);
}

/// The content need not go along if the writer's copy is known to be as good. Else the writer is asked to fetch it, if
/// it does not do that by itself: with the home, or if copies are known, before the home moves at another barrier.
void homes::on_only_writer(std::uint64_t unit, node_id writer, actions& out) {
  unit_state& s = table_.touch(unit);
  if (!table_.shape.migrates || s.is_home == 0 || s.listed != 0 || writer == table_.shape.self || !table_.may_leave(s))
    return;
  // Under scans a home that goes is listed as written. That notice must not bring it back: it goes only to who has sent
  // a diff here.
  if (table_.shape.scans && (s.partnered == 0 || s.source != writer)) return;
  if (table_.knows_copies(s) && s.current.may_contain(table_.shape.nodes, writer))
    return move_home(unit, s, writer, 0, out);
  if (table_.knows_copies(s) && migratory_.waits_for_request(s, writer)) return;
  message m;
  m.kind = message_kind::home_offer;
  m.unit = unit;
  m.requester = writer;
  table_.send(writer, m, false, out);
}

void homes::on_home_offer(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  const bool waits =
      s.pending() != access::none || s.asked != 0 || s.pinned != 0 || s.pin_asked != 0 || s.pin_data != 0;
  if (s.is_home == 0 && !table_.homes_stay && !table_.checked && !waits) ask_for_home(m.unit, s, out);
}

/// What was changed here goes to the home, and behind it the request.
void homes::ask_for_home(std::uint64_t unit, unit_state& s, actions& out) {
  s.read_ahead = 0;
  s.withhold = s.mapped() == access::none ? 1 : 0;
  if (s.valid != 0) copies_.take_copy(unit, s, out);
  copies_.ask(unit, s, access::read, out, message_flag::take);
}

/// From here on this node is the home, and there is no other (I1).
void homes::on_home_move(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  if ((m.flags & message_flag::settled) != 0 && s.is_home != 0) return;  // it knew
  CHECK(s.is_home == 0);
  if (s.twin != 0 && s.kept == 0) {  // the content has what it would say
    s.twin = 0;
    if (table_.shape.traces) table_.protect(m.unit, s, access::read, out);
    if (!table_.shape.scans) table_.open.twins -= table_.shape.twin_pages;
    out.add(action_kind::drop_twin, m.unit);
  }
  table_.lone.end(m.unit);
  s.is_home = 1;
  s.valid = s.follows = s.pin_data = s.stale = 0;
  s.version = no_version;
  migratory_.came(s, m);
  s.source = {};
  if (s.was_home == 0) s.home = table_.shape.self;
  s.moves = static_cast<std::uint16_t>(m.a);
  s.assigned = 1;
  s.shared = 1;
  if ((m.flags & (message_flag::fresh | message_flag::take)) != 0) s.asked = 0;  // the answer to its request
  if ((m.flags & message_flag::fresh) != 0 || migratory_units::is_alone(m)) s.shared = 0;
  // What was written here and did not reach the old home before it went is in this content alone: it comes back unused.
  const bool wrote = s.mapped() == access::write || s.listed != 0 || table_.awaits_homes();
  s.current = wrote ? model::copyset{} : model::copyset::of_bits(m.b);
  if ((m.flags & (message_flag::fresh | message_flag::settled)) == 0)
    table_.open.came.push_back({table_.shape.region, m.unit});
  if ((m.flags & message_flag::zero) == 0) s.written = 1;
  if (s.pending() != access::none) copies_.arrived(m.unit, s, out);
}

void homes::on_moved(std::uint64_t unit, node_id home, std::uint16_t moves) {
  unit_state& s = table_.touch(unit);
  if (s.is_home == 0 && home != table_.shape.self) table_.believe(s, home, moves);
}

/// At the home: whether who asks becomes it. Else it gets a copy. Not while diffs of this node are on their way: the
/// content may say, by an atomic operation, that others may go on, and here such an answer would wait for them.
bool homes::may_give(const message& m, unit_state& s) noexcept {
  if (table_.one_memory || s.producing != 0 || !table_.may_leave(s) || table_.awaits_homes()) return false;
  if ((m.flags & message_flag::take) != 0 && !table_.knows_copies(s)) return true;
  return migratory_.goes_along(s);
}

}  // namespace quire::release
