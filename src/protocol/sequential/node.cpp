// SPDX-License-Identifier: BSD-3-Clause
// The node's side of the sequential protocol: faults, replies, and orders of the manager to give rights up. (I1) to (I16): README.md, Invariants.
#include "protocol/sequential/machine.hpp"

namespace quire::sequential {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

access machine::right_of(std::uint64_t unit) const noexcept {
  const unit_state& s = units_[unit];
  if (s.touched != 0) return s.right();
  return shape_.managers.of(unit) == shape_.self ? access::write : access::none;
}

unit_state& machine::touch(std::uint64_t unit) noexcept {
  CHECK(unit < shape_.units);
  unit_state& s = units_[unit];
  if (s.touched == 0) {
    used_.add(unit);
    s.touched = 1;
    // A unit starts at its home, which is its manager, writable and zero.
    s.owner = shape_.managers.of(unit) == shape_.self ? 1 : 0;
    s.set_right(s.owner != 0 ? access::write : access::none);
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

/// The reply to `m`, for the same unit and requester.
message machine::reply_to(const message& m, message_kind kind) const {
  message r;
  r.kind = kind;
  r.unit = m.unit;
  r.requester = m.requester;
  r.token = m.token;
  return r;
}

void machine::ask(std::uint64_t unit, unit_state& s, access want, actions& out) {
  end_hold(unit, s, out);
  s.set_pending(want);
  ++outstanding_;
  message m;
  m.kind = want == access::write ? message_kind::write_request : message_kind::read_request;
  m.unit = unit;
  m.requester = shape_.self;
  if (s.hold != 0) m.flags = message_flag::keep;
  send(manager_of(unit), m, false, out);
}

/// Raises the application view to all that the protocol allows (I2): a home that reads first and writes next faults once. Only a
/// probe is mapped for reading, what is watched by a production phase, and what is on two nodes until a thread wants to write (I11).
void machine::permit(std::uint64_t unit, unit_state& s, access want, actions& out) {
  s.withhold = 0;
  s.read_ahead = 0;
  bool watched = s.probe != 0 || s.producing != 0;
  if (replicated() && shape_.replicas.units[unit].unsaved == 0) watched |= want != access::write || is_saving(unit);
  const access level = watched && s.right() == access::write ? access::read : s.right();
  if (s.mapped() >= level) return;
  auto& a = out.add(action_kind::permit, unit);
  a.from = s.mapped();
  a.level = level;
  a.fresh = s.written == 0 && s.mapped() == access::none;
  s.set_mapped(level);
  if (level != access::write) return;
  s.written = 1;  // (I10)
  mark_unsaved(unit);
}

/// Gives up rights: first the application view, before anybody reads the content (I6).
void machine::lower(std::uint64_t unit, unit_state& s, access to, actions& out) {
  note_loss(s, to);
  if (s.mapped() > to) {
    auto& a = out.add(action_kind::protect, unit);
    a.from = s.mapped();
    a.level = to;
    s.set_mapped(to);
  }
  if (to == access::none && s.right() != access::none) {
    ++count_.invalidations;
    if (s.read_ahead != 0 && s.pending() == access::none) {
      s.read_ahead = 0;
      s.useless = 1;
      ++count_.read_ahead_wasted;
    }
  }
  s.set_right(to);
  if (to != access::none) return;
  CHECK(is_safe(unit));  // (I12)
  s.owner = 0;
}

fault_outcome machine::on_fault(std::uint64_t unit, access want, actions& out, unsigned lost) {
  unit_state& s = touch(unit);
  if (s.lost != 0) return fault_outcome::lost;
  if (want == access::write) {
    note_write(s);
    s.producing = 0;
  }
  if (s.right() >= want) {
    if (want == access::write && is_saving(unit)) {
      ++count_.racing_faults;
      return fault_outcome::joined;
    }
    ++count_.local_faults;
    permit(unit, s, want, out);
    out.add(action_kind::wake, unit);
    return fault_outcome::local;
  }
  s.useless = 0;
  s.withhold = 0;
  s.read_ahead = 0;
  if (lost > s.hold) s.hold = static_cast<std::uint8_t>(lost < longest_hold ? lost : longest_hold);
  if (s.pending() != access::none) {
    ++count_.racing_faults;
    return fault_outcome::joined;
  }
  if (want == access::read) {
    ++count_.read_faults;
  } else {
    ++(s.right() == access::read ? count_.upgrade_faults : count_.write_faults);
  }
  ask(unit, s, want == access::read && read_as_write(s) ? access::write : want, out);
  return fault_outcome::started;
}

bool machine::on_read_ahead(std::uint64_t unit, access want, bool withhold, actions& out, bool guessed) {
  unit_state& s = touch(unit);
  if (s.right() >= want || s.pending() != access::none || s.useless != 0 || s.lost != 0) return false;
  ++count_.read_ahead_units;
  s.read_ahead = 1;
  s.withhold = withhold ? 1 : 0;
  if (guessed) {
    ++count_.exclusive_reads;
    s.probe = s.withhold;
    want = access::write;
  } else if (want == access::read && read_as_write(s)) {
    want = access::write;
  }
  ask(unit, s, want, out);
  return true;
}

bool machine::on_fault_around(std::uint64_t unit, actions& out) {
  unit_state& s = touch(unit);
  if (s.right() == access::none || s.mapped() != access::none || s.pending() != access::none) return false;
  permit(unit, s, access::read, out);
  return true;
}

/// The unit has come, or its last acknowledgement has: let threads in, then tell the manager (Millipage's ack) unless it
/// knows.
void machine::arrived(std::uint64_t unit, unit_state& s, bool settled, actions& out) {
  const access wanted = s.pending();
  s.set_pending(access::none);
  --outstanding_;
  if (s.withhold == 0) {
    // Read-ahead that is mapped at once can no longer be told from used.
    permit(unit, s, wanted, out);
  }
  if (settled) {
    // A hold wished for since the request left has to wait for the next one.
  } else if (s.hold == 0) {
    send_done(unit, out);
  } else {
    out.add(action_kind::hold, unit).m.a = s.hold;
    s.hold = 0;
    s.held = 1;
  }
  out.add(action_kind::wake, unit);
}

/// Nothing is taken from this node before its `done`, so a late `done` keeps the unit here: the delta of Mirage (Millipage,
/// section 3.3), paid only by accesses that would starve without it.
void machine::end_hold(std::uint64_t unit, unit_state& s, actions& out) const {
  if (s.held == 0) return;
  s.held = 0;
  send_done(unit, out);
}

void machine::on_hold_over(std::uint64_t unit, actions& out) { end_hold(unit, touch(unit), out); }

void machine::send_done(std::uint64_t unit, actions& out) const {
  message m;
  m.kind = message_kind::done;
  m.unit = unit;
  m.requester = shape_.self;
  send(manager_of(unit), m, false, out);
}

void machine::on_read_reply(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  CHECK(s.pending() == access::read);
  CHECK((m.flags & message_flag::no_data) == 0 || s.right() == access::read || replicated());
  if ((m.flags & (message_flag::zero | message_flag::no_data)) == 0) s.written = 1;
  s.set_right(access::read);
  note_content(m);
  arrived(m.unit, s, (m.flags & message_flag::settled) != 0, out);
}

void machine::on_write_reply(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  CHECK(s.pending() == access::write && s.replied == 0);
  if (m.kind == message_kind::write_grant) CHECK(s.right() != access::none);
  if (m.kind == message_kind::write_reply && (m.flags & message_flag::zero) == 0) s.written = 1;
  note_backup(m.unit, m.kind == message_kind::write_reply ? m.from.value() + 1u : static_cast<unsigned>(m.a));
  note_content(m);
  s.replied = 1;
  s.acks_expected = static_cast<std::uint16_t>(m.acks);
  complete_write_if_ready(m.unit, s, (m.flags & message_flag::settled) != 0, out);
}

void machine::on_invalidate_ack(const message& m, actions& out) {
  if (m.operation != 0) return on_manager_ack(m, out);
  unit_state& s = touch(m.unit);
  CHECK(s.pending() == access::write);
  ++s.acks_got;
  complete_write_if_ready(m.unit, s, false, out);
}

void machine::complete_write_if_ready(std::uint64_t unit, unit_state& s, bool settled, actions& out) {
  if (s.replied == 0 || s.acks_got < s.acks_expected) return;
  CHECK(s.acks_got == s.acks_expected);  // (I9)
  s.replied = 0;
  s.acks_got = s.acks_expected = 0;
  s.set_right(access::write);
  s.owner = 1;  // (I3)
  if (pins_.find(shape_.region, unit) != nullptr) s.pinned = 1;  // (I8), from the first moment: the next order may be here already
  arrived(unit, s, settled, out);
}

/// fetch_read, fetch_write: this node is the owner and sends its copy straight to the requester.
void machine::on_fetch(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  CHECK(s.right() >= access::read && m.requester != shape_.self);  // (I5)
  const bool for_writing = m.kind == message_kind::fetch_write;
  const bool there = is_backup(m.unit, m.requester);
  lower(m.unit, s, for_writing ? access::none : access::read, out);
  message r = reply_to(m, for_writing ? message_kind::write_reply : message_kind::read_reply);
  r.acks = m.acks;
  r.flags = m.flags & message_flag::settled;
  if (s.written == 0) r.flags |= message_flag::zero;
  if (there) r.flags |= message_flag::no_data;
  if (replicated()) r.b = shape_.replicas.units[m.unit].stamp;
  send(m.requester, r, s.written != 0 && !there, out);
}

void machine::on_invalidate(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  lower(m.unit, s, access::none, out);
  // For an atomic operation the manager collects the acknowledgements, for a write the requester does.
  message r = reply_to(m, message_kind::invalidate_ack);
  const node_id collector = m.operation != 0 ? manager_of(m.unit) : m.requester;
  r.operation = m.operation;
  send(collector, r, false, out);
}

void machine::on_atomic(const message& call, actions& out) {
  unit_state& s = touch(call.unit);
  if (s.right() == access::write && is_saving(call.unit)) return wait_for_round(call);
  ++count_.atomics;
  if (s.right() == access::write) {
    s.written = 1;
    mark_unsaved(call.unit);
    s.producing = 0;
    note_write(s);
    out.add(action_kind::operate_here, call.unit).m = call;
    return;
  }
  message m = call;
  end_hold(call.unit, s, out);
  m.kind = message_kind::atomic_request;
  m.requester = shape_.self;
  send(manager_of(call.unit), m, false, out);
}

/// This node is the owner, all other copies are gone: it may write, and does the operation.
void machine::on_atomic_fetch(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  CHECK(s.owner != 0 && s.right() >= access::read);  // (I3), (I5)
  s.set_right(access::write);
  s.written = 1;
  mark_unsaved(m.unit);
  message r = m;
  r.kind = message_kind::atomic_reply;
  r.region = shape_.region;
  r.from = shape_.self;
  auto& a = out.add(action_kind::operate, m.unit);
  a.to = m.requester;
  a.m = r;
}

void machine::on_atomic_reply(const message& m, actions& out) {
  if ((m.flags & message_flag::settled) == 0) send_done(m.unit, out);
  out.add(action_kind::complete, m.unit).m = m;
}

void machine::on_message(const message& m, actions& out) {
  if (put_off(m) || waits_for_round(m)) return;
  switch (m.kind) {
    case message_kind::read_request:
    case message_kind::write_request:
    case message_kind::atomic_request:
    case message_kind::push_request: return on_request(m, out);
    case message_kind::done: return on_done(m, out);
    case message_kind::fetch_read:
    case message_kind::fetch_write: return on_fetch(m, out);
    case message_kind::fetch_push: return on_fetch_push(m, out);
    case message_kind::atomic_fetch: return on_atomic_fetch(m, out);
    case message_kind::invalidate: return on_invalidate(m, out);
    case message_kind::read_reply: return on_read_reply(m, out);
    case message_kind::write_reply:
    case message_kind::write_grant: return on_write_reply(m, out);
    case message_kind::atomic_reply: return on_atomic_reply(m, out);
    case message_kind::invalidate_ack: return on_invalidate_ack(m, out);
    case message_kind::push_copy: return on_push_copy(m, out);
    case message_kind::push_ack: return on_push_ack(m, out);
    case message_kind::owner_here: return on_owner_here(m);
    case message_kind::copy_dropped: return on_copy_dropped(m);
    case message_kind::replica: return on_replica(m, out);
    case message_kind::replica_ack: return on_replica_ack(m);
    case message_kind::survives: return on_survives(m);
    case message_kind::owner_is: return on_owner_is(m);
    case message_kind::unit_lost: return on_unit_lost(m, out);
    case message_kind::push_reply: out.add(action_kind::complete, m.unit).m = m; return;
    default: CHECK(!"a message of the sequential protocol");
  }
}

bool machine::is_valid(std::uint64_t unit) const noexcept {
  const unit_state& s = units_[unit];
  const bool writes = s.pending() == access::write || right_of(unit) == access::write;
  if (s.probe != 0 && (s.mapped() == access::write || !writes)) return false;  // (I11)
  if (s.producing != 0 && s.mapped() == access::write) return false;  // (I11)
  if (s.mapped() > right_of(unit)) return false;  // (I2)
  if (s.touched != 0 && (s.owner != 0 ? s.right() == access::none : s.right() == access::write)) return false;  // (I3)
  if (s.pending() == access::none && (s.replied != 0 || s.acks_got != 0)) return false;  // (I9)
  if (replicated() && !is_valid_replica(unit)) return false;
  if (s.held != 0 && (s.pending() != access::none || right_of(unit) == access::none)) return false;  // (I13)
  const pin* const p = pins_.find(shape_.region, unit);
  if (s.pinned != 0 && (p == nullptr || right_of(unit) != access::write)) return false;  // (I8)
  if (s.pinned == 0 && p != nullptr && p->waiting.kind != message_kind::invalid) return false;
  if (manager_of(unit) != shape_.self) return entries_ == nullptr || entries_[unit].touched == 0;
  const directory_entry& e = entries_[unit];
  return e.touched != 1 || e.copies.may_contain(shape_.nodes, e.owner);  // (I4)
}

}  // namespace quire::sequential
