// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/machine.hpp"

namespace quire::release {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

unit_state& machine::touch(std::uint64_t unit) noexcept {
  CHECK(unit < shape_.units);
  unit_state& s = units_[unit];
  if (s.touched == 0) {
    used_.add(unit);
    s.touched = 1;
    s.version = no_version;
    s.home = shape_.managers.of(unit);
    s.is_home = s.home == shape_.self ? 1 : 0;
    s.assigned = shape_.first_touch ? 0 : 1;
  }
  return s;
}

void machine::send(node_id to, const message& m, bool with_content, actions& out) const {
  auto& a = out.add(action_kind::send, m.unit);
  a.to = to;
  a.m = m;
  a.m.region = shape_.region;
  a.m.from = shape_.self;
  a.with_content = with_content;
}

/// To where the home is, as far as is known here.
void machine::send_home(const message& m, actions& out) const {
  const way w = way_of(m.unit);
  message stamped = m;
  stamped.acks = w.moves;
  send(w.to, stamped, false, out);
}

/// Whether a message for the home has come to its end. The home may have been here before: then diffs may be on their way that came when it
/// was not, and went on. Until they are back, what comes from who has not heard that the home is here takes the same way, behind them.
bool machine::is_for_here(const unit_state& s, node_id requester, std::uint16_t moves) const noexcept {
  if (s.is_home == 0) return false;
  return s.was_home == 0 || open_.passing == 0 || moves == s.moves || requester == shape_.self;
}

/// Who once was the home knows where it went, so that a request gets there, and each pair of nodes keeps its order.
bool machine::passes_on(const message& m, const unit_state& s, actions& out) {
  if (is_for_here(s, m.requester, static_cast<std::uint16_t>(m.acks))) return false;
  ++count_.forwarded;
  send_home(m, out);
  return true;
}

void machine::permit(std::uint64_t unit, unit_state& s, access level, actions& out) const {
  if (s.mapped() >= level) return;
  auto& a = out.add(action_kind::permit, unit);
  a.from = s.mapped();
  a.level = level;
  a.fresh = s.written == 0 && s.mapped() == access::none;
  s.set_mapped(level);
  if (level == access::write && !shape_.scans) s.written = 1;
}

void machine::protect(std::uint64_t unit, unit_state& s, access level, actions& out) const {
  if (s.mapped() <= level) return;
  auto& a = out.add(action_kind::protect, unit);
  a.from = s.mapped();
  a.level = level;
  s.set_mapped(level);
}

/// From now on it is noticed whether threads of the home write; what they do in the open interval is, if the unit is listed.
void machine::watch_writes(std::uint64_t unit, unit_state& s, actions& out) const {
  if (s.listed == 0 && s.kept == 0 && !shape_.scans) protect(unit, s, access::read, out);
}

/// A thread that has faulted writes the unit next.
void machine::note_write(std::uint64_t unit, const unit_state& s) {
  if (s.twin != 0 && s.is_home == 0 && s.declared == 0 && !shape_.scans) open_.newest.add({shape_.region, unit}, shape_.twin_pages);
}

void machine::list(std::uint64_t unit, unit_state& s) {
  s.producing = 0;
  if (s.listed != 0) return;
  s.listed = 1;
  open_.written.push_back({shape_.region, unit});
}

/// The home's content changes by a thread of the home. Nobody needs to hear of it if nobody has a copy.
void machine::write_here(std::uint64_t unit, unit_state& s) {
  s.assigned = s.written = 1;
  s.producing = 0;
  s.streak = 0;
  s.current.clear();
  if (s.shared != 0) list(unit, s);
}

/// The node has the content: lets its threads have `want` of it.
void machine::allow(std::uint64_t unit, unit_state& s, access want, actions& out) {
  s.withhold = s.read_ahead = 0;
  if (s.is_home != 0) {
    s.assigned = 1;
    if (shape_.scans) {
      s.written = 1;  // as soon as a thread likes
      keep_base(unit, s, out);
      return permit(unit, s, access::write, out);
    }
    // What nobody else has can be written at once, and later without a fault.
    if (s.shared == 0 && !checked_ && s.producing == 0) want = access::write;
    if (want == access::write) keep_base(unit, s, out);
    permit(unit, s, want, out);
    if (want == access::write) write_here(unit, s);
    return;
  }
  if (shape_.scans) want = access::write;
  if (want == access::write && s.twin == 0) {
    s.twin = 1;
    if (s.declared == 0) {
      ++count_.twins;
      out.add(action_kind::make_twin, unit);
    }
    if (!shape_.scans) {
      if (s.declared == 0) open_.twins += shape_.twin_pages;
      list(unit, s);
    }
  }
  permit(unit, s, want, out);
}

void machine::send_diff(std::uint64_t unit, unit_state& s, bool keep, actions& out) {
  CHECK(s.twin != 0);
  s.twin = keep ? 1 : 0;
  s.follows = 0;
  if (!keep) {
    s.kept = 0;
    if (!shape_.scans && s.declared == 0) open_.twins -= shape_.twin_pages;
  }
  auto& a = out.add(action_kind::send_diff, unit);
  a.to = s.home;
  a.m.region = shape_.region;
  a.keep = keep;
}

void machine::on_written(std::uint64_t unit) {
  unit_state& s = touch(unit);
  if (s.is_home != 0) {
    write_here(unit, s);
  } else if (s.twin != 0) {
    list(unit, s);
  }
}

/// Of a copy that has gone; what still is here is known to be written, or the next release looks.
void machine::on_differs(std::uint64_t unit) {
  unit_state& s = touch(unit);
  if (s.mapped() == access::none) list(unit, s);
}

// ---- Faults and calls of this node's threads ----

fault_outcome machine::on_fault(std::uint64_t unit, access want, actions& out, unsigned) {
  unit_state& s = touch(unit);
  if (s.is_home != 0 || s.valid != 0) {
    ++count_.local_faults;
    allow(unit, s, want, out);
    if (want == access::write) note_write(unit, s);
    out.add(action_kind::wake, unit);
    return fault_outcome::local;
  }
  s.useless = s.withhold = s.read_ahead = 0;
  if (s.pending() != access::none) {
    ++count_.racing_faults;
    if (want == access::write) s.set_pending(want);
    return fault_outcome::joined;
  }
  ++(want == access::write ? count_.write_faults : count_.read_faults);
  ask(unit, s, want, out);
  return fault_outcome::started;
}

void machine::ask(std::uint64_t unit, unit_state& s, access want, actions& out, std::uint8_t flags) {
  CHECK(s.asked == 0);
  if (s.pending() == access::none) ++outstanding_;
  s.set_pending(want);
  if (s.pin_data != 0) return;  // it is on its way
  s.asked = 1;
  message m;
  m.kind = message_kind::copy_request;
  m.flags = flags;
  m.unit = unit;
  m.requester = shape_.self;
  send_home(m, out);
}

/// Comes to be read, whatever it is wanted for: a unit that is mapped for writing counts as written.
bool machine::on_read_ahead(std::uint64_t unit, access, bool withhold, actions& out, bool) {
  unit_state& s = touch(unit);
  if (s.is_home != 0 || s.valid != 0 || s.pending() != access::none || s.pin_data != 0 || s.useless != 0) return false;
  ++count_.read_ahead_units;
  s.read_ahead = 1;
  s.withhold = withhold ? 1 : 0;
  ask(unit, s, access::read, out);
  return true;
}

/// What a thread will write counts as written, and is made ready for it: a fault less.
bool machine::on_hint(std::uint64_t unit, access want, actions& out) {
  unit_state& s = touch(unit);
  if (s.is_home != 0 || s.valid != 0) {
    if (s.mapped() >= want) return false;
    allow(unit, s, want, out);
    return true;
  }
  if (!on_read_ahead(unit, want, false, out)) return false;
  s.set_pending(want);
  return true;
}

bool machine::on_fault_around(std::uint64_t unit, actions& out) {
  unit_state& s = touch(unit);
  if ((s.is_home == 0 && s.valid == 0) || s.mapped() != access::none) return false;
  allow(unit, s, access::read, out);
  return true;
}

/// A synchronisation point of its own: the engine releases before it and acquires after it. What it changes is news of the
/// home's (on_operated), which come with the reply; one that changes nothing, as threads do that wait for a value by
/// atomic operations, takes no copy away from anybody.
void machine::on_atomic(const message& call, actions& out) {
  ++count_.atomics;
  unit_state& s = touch(call.unit);
  if (s.is_home != 0) {
    message m = call;
    m.kind = message_kind::home_atomic;
    m.requester = shape_.self;
    return must_wait(m.unit, s, shape_.self) ? put_off(m) : operate_for(m, s, out);
  }
  s.producing = 0;
  message m = call;
  m.kind = message_kind::home_atomic;
  m.requester = shape_.self;
  send_home(m, out);
}

void machine::on_atomic_reply(const message& m, actions& out) { out.add(action_kind::complete, m.unit).m = m; }

void machine::on_operated(std::uint64_t unit) {
  unit_state& s = touch(unit);
  CHECK(s.is_home != 0);
  write_here(unit, s);
}

// ---- At the home ----

void machine::on_copy_request(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  if (m.requester == shape_.self) {  // asked before it became the home, and the home stays until this is back
    s.asked = 0;
    return;
  }
  if (passes_on(m, s, out)) return;
  if (must_wait(m.unit, s, m.requester)) return put_off(m);
  if (s.assigned == 0) return move_home(m.unit, s, m.requester, message_flag::fresh, out);
  if (may_give(m, s)) return move_home(m.unit, s, m.requester, message_flag::take, out);
  reply_with_copy(m, s, out);
}

void machine::reply_with_copy(const message& m, unit_state& s, actions& out) {
  watch_writes(m.unit, s, out);
  s.shared = 1;
  if (s.mapped() != access::write) s.current.add(shape_.nodes, m.requester);
  note_reader(s, m.requester);
  note_fetch(s, m.requester);
  message r;
  r.kind = message_kind::copy_reply;
  r.unit = m.unit;
  r.requester = m.requester;
  r.a = s.moves;
  r.b = open_.told;
  if (s.written == 0) r.flags |= message_flag::zero;
  if (s.kept != 0) r.flags |= message_flag::as_told;
  if (s.twin != 0 && checked_) {
    r.flags |= message_flag::base;
    list(m.unit, s);  // the copy is old already
  }
  send(m.requester, r, s.written != 0, out);
}

diff_outcome machine::on_diff(std::uint64_t unit, node_id writer, std::uint16_t moves, bool begins) {
  unit_state& s = touch(unit);
  if (!is_for_here(s, writer, moves)) {
    ++count_.forwarded;
    ++open_.passing;
    return diff_outcome::forward;
  }
  if (writer == shape_.self) return diff_outcome::own;
  s.assigned = s.written = 1;
  if (checked_) return diff_outcome::collect;
  const bool keeps = s.current.may_contain(shape_.nodes, writer);
  s.current.clear();
  if (keeps) s.current.add(shape_.nodes, writer);
  s.readers.remove(shape_.nodes, writer);
  if (begins) count_streak(unit, s, writer, keeps);
  note_writer(unit, s, writer);
  return diff_outcome::apply;
}

/// A node that writes a unit in one interval after the other, between barriers, gets its home as the only writer of an epoch does. `again`: its copy
/// was as good as the content before.
void machine::count_streak(std::uint64_t unit, unit_state& s, node_id writer, bool again) {
  constexpr unsigned long_enough = 3;
  if (!shape_.migrates || !shape_.moves_between || shape_.scans || s.kept != 0) return;
  const bool same = again || (s.partnered != 0 && s.source == writer);
  s.streak = !same ? 0 : s.streak < long_enough ? s.streak + 1 : long_enough;
  if (s.streak == long_enough) open_.lone.push_back({{shape_.region, unit}, writer});
}

void machine::on_home_atomic(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  if (passes_on(m, s, out)) return;
  must_wait(m.unit, s, m.requester) ? put_off(m) : operate_for(m, s, out);
}

void machine::operate_for(const message& m, unit_state& s, actions& out) {
  s.assigned = 1;
  keep_base(m.unit, s, out);
  if (m.requester == shape_.self) {
    out.add(action_kind::operate_here, m.unit).m = m;
    return;
  }
  auto& a = out.add(action_kind::operate, m.unit);
  a.to = m.requester;
  a.m = m;
  a.m.kind = message_kind::home_atomic_reply;
  a.m.region = shape_.region;
  a.m.from = shape_.self;
}

/// `how`: fresh, take, or neither: `to` has a copy that is as good as the content.
void machine::move_home(std::uint64_t unit, unit_state& s, node_id to, std::uint8_t how, actions& out) {
  if (how == message_flag::take) {  // may be listed: the notice is this node's, wherever the content is
    if (shape_.scans) close_home(unit, s, out);
  } else {
    CHECK(s.mapped() != access::write && s.listed == 0);
  }
  ++count_.home_moves;
  s.is_home = s.shared = s.fetched = s.again = s.streak = 0;
  s.credit = s.grant = 0;
  s.readers.clear();
  end_partnership(s);
  s.was_home = 1;
  s.current.clear();
  s.assigned = 1;
  // What the home has is a copy as good as any; but nobody may write what is on its way: now, or since the new home got its copy. It
  // would have, as the home's content, what no diff takes back.
  const bool stays = how == 0 && !open_.content_leaves;
  if (!stays) protect(unit, s, access::none, out);
  s.valid = stays ? 1 : 0;
  if (how == message_flag::take) s.version = given_away;
  s.home = to;
  s.moves = after(s.moves);
  message m;
  m.kind = message_kind::home_move;
  m.unit = unit;
  m.requester = to;
  m.a = s.moves;
  if (stays) m.b = model::copyset::of(shape_.nodes, shape_.self).bits();
  m.flags = how;
  if (s.written == 0) m.flags |= message_flag::zero;
  send(to, m, how == message_flag::take && s.written != 0, out);
}

/// Whether `current` has all there is to know: copies are not given up without a word, there are not too many nodes, and all writes of
/// the home are known (where they are found by scans, only if the unit is not mapped).
bool machine::knows_copies(const unit_state& s) const noexcept {
  return shape_.nodes.exact() && !shape_.pages_out && (!shape_.scans || s.mapped() == access::none);
}

/// The content need not go along if the writer's copy is known to be as good. Else the writer is asked to fetch it: with the home, or if
/// copies are known, before the home moves at another barrier.
void machine::on_only_writer(std::uint64_t unit, node_id writer, actions& out) {
  unit_state& s = touch(unit);
  if (!shape_.migrates || s.is_home == 0 || s.listed != 0 || writer == shape_.self || !may_leave(s)) return;
  // Under scans a home that goes is listed as written. That notice must not bring it back: it goes only to who has sent a diff here.
  if (shape_.scans && (s.partnered == 0 || s.source != writer)) return;
  if (knows_copies(s) && s.current.may_contain(shape_.nodes, writer)) return move_home(unit, s, writer, 0, out);
  message m;
  m.kind = message_kind::home_offer;
  m.unit = unit;
  m.requester = writer;
  send(writer, m, false, out);
}

void machine::on_home_offer(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  const bool waits = s.pending() != access::none || s.asked != 0 || s.pinned != 0 || s.pin_asked != 0 || s.pin_data != 0;
  if (s.is_home == 0 && !homes_stay_ && !checked_ && !waits) ask_for_home(m.unit, s, out);
}

/// What was changed here goes to the home, and behind it the request.
void machine::ask_for_home(std::uint64_t unit, unit_state& s, actions& out) {
  s.read_ahead = 0;
  s.withhold = s.mapped() == access::none ? 1 : 0;
  if (s.valid != 0) take_copy(unit, s, out);
  ask(unit, s, access::read, out, message_flag::take);
}

/// From here on this node is the home, and there is no other (I1).
void machine::on_home_move(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  if ((m.flags & message_flag::settled) != 0 && s.is_home != 0) return;  // it knew
  CHECK(s.is_home == 0);
  if (s.twin != 0 && s.kept == 0) {  // the content has what it would say
    s.twin = 0;
    if (!shape_.scans) open_.twins -= shape_.twin_pages;
    out.add(action_kind::drop_twin, m.unit);
  }
  s.is_home = 1;
  s.valid = s.follows = s.pin_data = s.stale = 0;
  s.version = no_version;
  s.source = {};
  if (s.was_home == 0) s.home = shape_.self;
  s.moves = static_cast<std::uint16_t>(m.a);
  s.assigned = 1;
  s.shared = 1;
  if ((m.flags & (message_flag::fresh | message_flag::take)) != 0) s.asked = 0;  // the answer to its request
  if ((m.flags & message_flag::fresh) != 0) s.shared = 0;
  // What was written here and did not reach the old home before it went is in this content alone: it comes back unused.
  const bool wrote = s.mapped() == access::write || s.listed != 0 || awaits_homes();
  s.current = wrote ? model::copyset{} : model::copyset::of_bits(m.b);
  if ((m.flags & (message_flag::fresh | message_flag::settled)) == 0) open_.came.push_back({shape_.region, m.unit});
  if ((m.flags & message_flag::zero) == 0) s.written = 1;
  if (s.pending() != access::none) arrived(m.unit, s, out);
}

void machine::on_moved(std::uint64_t unit, node_id home, std::uint16_t moves) {
  unit_state& s = touch(unit);
  if (s.is_home == 0 && home != shape_.self) believe(s, home, moves);
}

/// Nodes that send through this one count on the way that their messages take from here: a request must not overtake a diff (I9).
void machine::believe(unit_state& s, node_id home, std::uint16_t moves) const noexcept {
  if (!is_newer(moves, s.moves) || open_.passing != 0) return;
  s.home = home;
  s.moves = moves;
}

// ---- Copies ----

void machine::arrived(std::uint64_t unit, unit_state& s, actions& out) {
  const access want = s.pending();
  s.set_pending(access::none);
  s.stale = 0;
  --outstanding_;
  const bool unasked = s.read_ahead != 0;
  if (s.withhold == 0) allow(unit, s, want, out);  // read-ahead that is mapped at once can no longer be told from used
  if (want == access::write && !unasked) note_write(unit, s);
  out.add(action_kind::wake, unit);
}

void machine::on_copy_reply(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  s.asked = 0;
  if (s.pending() == access::none || s.is_home != 0) return;
  believe(s, m.from, static_cast<std::uint16_t>(m.a));
  if ((m.flags & message_flag::zero) == 0) s.written = 1;
  if (s.stale != 0) {
    s.stale = 0;
    ++count_.stale_replies;
    return ask(m.unit, s, s.pending(), out);
  }
  s.valid = 1;
  s.follows = (m.flags & message_flag::base) != 0 ? 0 : 1;
  s.source = m.from;
  s.version = s.follows != 0 ? static_cast<std::uint32_t>(m.b) : no_version;
  arrived(m.unit, s, out);
}

void machine::on_notice(std::uint64_t unit, node_id writer, std::uint32_t interval, actions& out) {
  unit_state& s = checked_ ? touch(unit) : units_[unit];
  if (s.touched == 0 || s.is_home != 0) return;
  if (follows_home(s) && writer == s.source && interval <= s.version) return;  // the copy has it
  if (checked_) {
    s.news = 1;
    return;
  }
  if (s.pending() != access::none || s.pin_data != 0) s.stale = 1;
  if (s.valid == 0) return;
  take_copy(unit, s, out);
  ++count_.invalidations;
  if (s.read_ahead == 0) return;
  s.read_ahead = 0;
  s.useless = 1;
  ++count_.read_ahead_wasted;
}

/// Threads that write it now fault, and wait for the content that has their writes.
void machine::take_copy(std::uint64_t unit, unit_state& s, actions& out) {
  protect(unit, s, access::none, out);
  if (s.twin != 0) send_diff(unit, s, false, out);
  s.valid = s.follows = 0;
  s.version = no_version;
}

void machine::on_release(std::uint64_t unit, actions& out) {
  unit_state& s = touch(unit);
  s.listed = 0;
  if (s.is_home != 0) {
    s.shared = 0;  // the notice takes away all copies there are
    s.current.clear();
  } else if (s.twin != 0) {
    const bool keeps = shape_.scans || s.kept != 0 || (may_keep(s) && s.steady != 0);
    s.steady = 1;
    if (!keeps) protect(unit, s, access::read, out);
    send_diff(unit, s, keeps, out);
    if (keeps && !shape_.scans) keep(unit, s);
  }
}

void machine::on_twins_short(std::uint64_t unit, actions& out) {
  unit_state& s = touch(unit);
  if (s.twin == 0 || s.is_home != 0 || s.declared != 0 || shape_.scans) return;
  protect(unit, s, access::read, out);
  send_diff(unit, s, false, out);
}

void machine::on_message(const message& m, actions& out) {
  switch (m.kind) {
    case message_kind::copy_request: return on_copy_request(m, out);
    case message_kind::copy_reply: return on_copy_reply(m, out);
    case message_kind::home_move: return on_home_move(m, out);
    case message_kind::home_offer: return on_home_offer(m, out);
    case message_kind::home_atomic: return on_home_atomic(m, out);
    case message_kind::home_atomic_reply: return on_atomic_reply(m, out);
    case message_kind::update: (void)on_update(m, out); return;
    case message_kind::patch: (void)on_patch(m, out); return;
    case message_kind::update_unused: return on_update_unused(m);
    case message_kind::pin_request: return on_pin_request(m, out);
    case message_kind::pin_grant: return on_pin_grant(m, out);
    case message_kind::pin_end: return on_pin_end(m, out);
    case message_kind::pin_next: return on_pin_next(m, out);
    case message_kind::spread_request: return on_spread_request(m, out);
    default: CHECK(!"a message of the release protocol");
  }
}

/// Of one unit on one node: (I2), (I7), (I8), and that fields mean something only where they may.
bool machine::is_valid(std::uint64_t unit) const noexcept {
  const unit_state& s = units_[unit];
  if (s.touched == 0) return s == unit_state{};
  const bool home = s.is_home != 0;
  const bool strange_twin = s.twin != 0 && !checked_ && s.kept == 0;
  const bool elsewhere = s.was_home == 0 && s.home != shape_.self;
  if (home && (s.valid != 0 || strange_twin || elsewhere || s.pending() != access::none)) return false;
  if (!home && (s.shared != 0 || !s.current.empty() || !s.readers.empty() || s.credit != 0 || s.partnered != 0)) return false;
  if (!home && s.streak != 0) return false;
  if (s.partnered == 0 && (s.paired != 0 || s.merged != 0 || s.behind != 0)) return false;
  if (s.follows != 0 && (home || s.valid == 0)) return false;
  if (s.version == given_away && (home || s.valid != 0)) return false;
  if (s.kept != 0 && (s.twin == 0 || s.mapped() == access::none || shape_.scans || checked_)) return false;
  if (home && s.shared != 0 && s.mapped() == access::write && s.listed == 0 && s.kept == 0 && !shape_.scans) return false;
  if (!s.current.empty() && (s.shared == 0 || (s.mapped() == access::write && !shape_.scans))) return false;
  if (!home && s.mapped() == access::write && s.twin == 0) return false;
  if (home && checked_ && s.mapped() == access::write && s.twin == 0) return false;
  if (s.twin != 0 && !home && (s.valid == 0 || (s.listed == 0 && s.kept == 0 && !shape_.scans))) return false;
  if (s.mapped() != access::none && !home && s.valid == 0) return false;
  if (s.pending() != access::none && s.valid != 0) return false;
  if (!home && s.pin_data == 0 && (s.asked != 0) != (s.pending() != access::none)) return false;
  if (s.pin_data != 0 && (home || s.pin_asked == 0 || s.asked != 0 || s.valid != 0)) return false;
  if ((s.granted != 0) != (find_grant(unit) != nullptr) || (s.granted != 0 && !home) || (s.pinned != 0 && s.pin_asked != 0)) return false;
  if (s.pinned != 0 && home && holder_of(unit) != shape_.self) return false;
  if (s.news != 0 && !checked_) return false;
  return s.stale == 0 || s.pending() != access::none || s.pin_data != 0;
}

}  // namespace quire::release
