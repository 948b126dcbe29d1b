// SPDX-License-Identifier: BSD-3-Clause
// The node's side of the sequential protocol: faults, replies, and orders of the manager to give rights up. (I1) to
// (I16): README.md, Invariants.
#include "protocol/sequential/node.hpp"

#include "protocol/sequential/private_views.hpp"

namespace quire::sequential {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

fault_outcome node_side::on_fault(std::uint64_t unit, access want, actions& out, unsigned lost) {
  unit_state& s = table_.touch(unit);
  if (s.lost != 0) return fault_outcome::lost;
  if (want == access::write) {
    habits_.note_write(s);
    s.producing = 0;
  }
  if (s.right() >= want) {
    if (want == access::write && table_.is_saving(unit)) {
      ++table_.count.racing_faults;
      return fault_outcome::joined;
    }
    ++table_.count.local_faults;
    permit(unit, s, want, out);
    out.add(action_kind::wake, unit);
    return fault_outcome::local;
  }
  s.useless = 0;
  s.withhold = 0;
  s.read_ahead = 0;
  if (lost > s.hold) s.hold = static_cast<std::uint8_t>(lost < longest_hold ? lost : longest_hold);
  if (s.pending() != access::none) {
    ++table_.count.racing_faults;
    return fault_outcome::joined;
  }
  if (want == access::read) {
    ++table_.count.read_faults;
  } else {
    ++(s.right() == access::read ? table_.count.upgrade_faults : table_.count.write_faults);
  }
  ask(unit, s, wish(s, want), out);
  return fault_outcome::started;
}

/// What to ask for. Where all have one memory, who asks to read may write (I20).
access node_side::wish(unit_state& s, access want) {
  if (table_.shape.one_memory) return access::read;
  return want == access::read && habits_.read_as_write(s) ? access::write : want;
}

/// All others are to give the unit up, whatever this node may do already.
fault_outcome node_side::on_fault_alone(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  s.useless = s.withhold = s.read_ahead = 0;
  if (s.pending() != access::none) {
    ++table_.count.racing_faults;
    return fault_outcome::joined;
  }
  ++(s.right() == access::none ? table_.count.write_faults : table_.count.upgrade_faults);
  ask(unit, s, access::write, out);
  return fault_outcome::started;
}

bool node_side::on_read_ahead(std::uint64_t unit, access want, bool withhold, actions& out, bool guessed) {
  unit_state& s = table_.touch(unit);
  if (s.right() >= want || s.pending() != access::none || s.useless != 0 || s.lost != 0) return false;
  ++table_.count.read_ahead_units;
  s.read_ahead = 1;
  s.withhold = withhold ? 1 : 0;
  if (guessed && !table_.shape.one_memory) {
    ++table_.count.exclusive_reads;
    s.probe = s.withhold;
    ask(unit, s, access::write, out);
  } else {
    ask(unit, s, wish(s, want), out);
  }
  return true;
}

/// What the node may do already its threads may do from now on, without a fault.
bool node_side::on_hint(std::uint64_t unit, access want, actions& out) {
  unit_state& s = table_.touch(unit);
  if (s.right() < want) return on_read_ahead(unit, want, false, out, false);
  if (s.mapped() >= want || s.lost != 0 || (want == access::write && table_.is_saving(unit))) return false;
  const access before = s.mapped();
  permit(unit, s, want, out);
  return s.mapped() != before;
}

void node_side::on_take(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  if (s.right() == access::write || s.pending() != access::none || s.lost != 0) return;
  s.read_ahead = s.withhold = 1;
  ask(unit, s, access::write, out);
}

void node_side::give_up(std::uint64_t unit, actions& out) {
  unit_state& s = table_.units[unit];
  if (s.touched == 0) return;
  s.held = s.hold = s.withhold = s.read_ahead = s.probe = s.producing = 0;
  lower(unit, s, access::none, out);
}

bool node_side::on_fault_around(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  if (s.right() == access::none || s.mapped() != access::none || s.pending() != access::none) return false;
  permit(unit, s, access::read, out);
  return true;
}

// ---- Steps

void node_side::ask(std::uint64_t unit, unit_state& s, access want, actions& out) {
  end_hold(unit, s, out);
  s.set_pending(want);
  ++table_.outstanding;
  message m;
  m.kind = want == access::write ? message_kind::write_request : message_kind::read_request;
  m.unit = unit;
  m.requester = table_.shape.self;
  if (s.hold != 0) m.flags = message_flag::keep;
  table_.send(table_.manager_of(unit), m, false, out);
}

/// Raises the application view to all that the protocol allows (I2): a home that reads first and writes next faults
/// once. Only a probe is mapped for reading, what is watched by a production phase, and what is on two nodes until a
/// thread wants to write (I11). Private views permit reading, and writing of a copy, which is none of the machine's
/// business.
void node_side::permit(std::uint64_t unit, unit_state& s, access want, actions& out) {
  s.withhold = 0;
  s.read_ahead = 0;
  const bool privately = table_.shape.views != nullptr;
  if (privately && table_.shape.views->is_closed()) return;
  bool watched = privately || s.probe != 0 || s.producing != 0;
  if (table_.replicated() && table_.shape.replicas.units[unit].unsaved == 0)
    watched |= want != access::write || table_.is_saving(unit);
  if (want != access::write && table_.is_clean_here(unit)) watched = true;
  const access level = watched && s.right() == access::write ? access::read : s.right();
  if (s.mapped() >= level) return;
  auto& a = out.add(action_kind::permit, unit);
  a.from = s.mapped();
  a.level = s.copied != 0 ? access::write : level;
  a.fresh = s.written == 0 && s.mapped() == access::none;
  s.set_mapped(level);
  if (level != access::write) return;
  s.written = 1;  // (I10)
  marks_.mark_unsaved(unit);
  table_.note_writable(unit);
}

/// Gives up rights: first the application view, before anybody reads the content (I6).
void node_side::lower(std::uint64_t unit, unit_state& s, access to, actions& out) {
  habits_.note_loss(s, to);
  if (s.mapped() > to) {
    auto& a = out.add(action_kind::protect, unit);
    a.from = s.copied != 0 ? access::write : s.mapped();
    a.level = to;
    s.set_mapped(to);
  }
  if (to == access::none && s.right() != access::none) {
    ++table_.count.invalidations;
    if (s.read_ahead != 0 && s.pending() == access::none) {
      s.read_ahead = 0;
      s.useless = 1;
      ++table_.count.read_ahead_wasted;
    }
  }
  s.set_right(to);
  if (to != access::none) return;
  CHECK(table_.is_safe(unit));  // (I12)
  s.owner = 0;
}

/// The unit has come, or its last acknowledgement has: let threads in, then tell the manager (Millipage's ack) unless
/// it knows.
void node_side::arrived(std::uint64_t unit, unit_state& s, bool settled, actions& out) {
  const access wanted = s.pending();
  s.set_pending(access::none);
  --table_.outstanding;
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

/// Nothing is taken from this node before its `done`, so a late `done` keeps the unit here: the delta of Mirage
/// (Millipage, section 3.3), paid only by accesses that would starve without it.
void node_side::end_hold(std::uint64_t unit, unit_state& s, actions& out) const {
  if (s.held == 0) return;
  s.held = 0;
  send_done(unit, out);
}

void node_side::on_hold_over(std::uint64_t unit, actions& out) { end_hold(unit, table_.touch(unit), out); }

void node_side::send_done(std::uint64_t unit, actions& out) const {
  message m;
  m.kind = message_kind::done;
  m.unit = unit;
  m.requester = table_.shape.self;
  table_.send(table_.manager_of(unit), m, false, out);
}

// ---- Answers

void node_side::on_read_reply(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  CHECK(s.pending() == access::read);
  const bool inherited =
      table_.replicated() || table_.is_in_frame_of(m.from) ||
      table_.shape.refills;  // this node itself may have got all of it meanwhile, being the manager (touch_entry())
  CHECK((m.flags & message_flag::no_data) == 0 || s.right() == access::read || inherited);
  note_written(s, m);
  if (table_.shape.one_memory) {
    s.set_right(access::write);  // (I20)
    s.read_first = 1;
  } else if (s.right() != access::write) {
    s.set_right(access::read);  // else it may be pinned already, and written (I8)
  }
  marks_.note_content(m);
  arrived(m.unit, s, (m.flags & message_flag::settled) != 0, out);
}

/// What came may differ from zero: content, or a frame that others of the host have written (I19).
void node_side::note_written(unit_state& s, const message& m) const {
  const bool in_frame = table_.shape.hosts.any() && s.right() == access::none;
  if ((m.flags & (in_frame ? message_flag::zero : message_flag::zero | message_flag::no_data)) == 0) s.written = 1;
}

void node_side::on_write_reply(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  CHECK(s.pending() == access::write && s.replied == 0);
  if (m.kind == message_kind::write_grant) CHECK(s.right() != access::none);
  if (m.kind == message_kind::write_reply && (m.flags & message_flag::zero) == 0) s.written = 1;
  marks_.note_backup(m.unit, m.kind == message_kind::write_reply ? m.from.value() + 1u : static_cast<unsigned>(m.a));
  marks_.note_content(m);
  s.replied = 1;
  s.acks_expected = static_cast<std::uint16_t>(m.acks);
  complete_write_if_ready(m.unit, s, (m.flags & message_flag::settled) != 0, out);
}

void node_side::on_invalidate_ack(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  CHECK(s.pending() == access::write);
  ++s.acks_got;
  complete_write_if_ready(m.unit, s, false, out);
}

void node_side::complete_write_if_ready(std::uint64_t unit, unit_state& s, bool settled, actions& out) {
  if (s.replied == 0 || s.acks_got < s.acks_expected) return;
  CHECK(s.acks_got == s.acks_expected);  // (I9)
  s.replied = 0;
  s.acks_got = s.acks_expected = 0;
  s.set_right(access::write);
  s.owner = 1;  // (I3)
  if (table_.shape.one_memory) s.read_first = 0;
  if (table_.pins.find(table_.shape.region, unit) != nullptr)
    s.pinned = 1;  // (I8), from the first moment: the next order may be here already
  arrived(unit, s, settled, out);
}

// ---- Orders of the manager

/// fetch_read, fetch_write: this node is the owner and sends its copy straight to the requester.
void node_side::on_fetch(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  CHECK(s.right() >= access::read && m.requester != table_.shape.self);  // (I5)
  const bool for_writing = m.kind == message_kind::fetch_write;
  const bool in_frame = (m.flags & message_flag::no_data) != 0 || table_.is_in_frame_of(m.requester);  // (I19)
  const bool there = in_frame || marks_.is_backup(m.unit, m.requester);
  const bool had_content = s.written != 0;
  if (for_writing || !table_.shape.one_memory) {
    lower(m.unit, s, for_writing ? access::none : access::read, out);
  } else {
    s.written = s.read_first = 1;  // who asked may write it, unheard (I20)
    ++table_.count.one_memory_units;
  }
  message r = table_.reply_to(m, for_writing ? message_kind::write_reply : message_kind::read_reply);
  r.acks = m.acks;
  r.flags = m.flags & message_flag::settled;
  if (s.written == 0) r.flags |= message_flag::zero;
  if (there) r.flags |= message_flag::no_data;
  if (in_frame && had_content) ++table_.count.host_units;
  if (table_.replicated()) r.b = table_.shape.replicas.units[m.unit].stamp;
  table_.send(m.requester, r, s.written != 0 && !there, out);
}

void node_side::on_invalidate(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  lower(m.unit, s, access::none, out);
  // For an atomic operation the manager collects the acknowledgements, for a write the requester does.
  message r = table_.reply_to(m, message_kind::invalidate_ack);
  const node_id collector = m.operation != 0 ? table_.manager_of(m.unit) : m.requester;
  r.operation = m.operation;
  table_.send(collector, r, false, out);
}

// ---- Atomic operations

void node_side::on_atomic(const message& call, actions& out) {
  unit_state& s = table_.touch(call.unit);
  if (s.right() == access::write && table_.is_saving(call.unit)) return marks_.wait_for_round(call);
  ++table_.count.atomics;
  if (s.right() == access::write) {
    s.written = 1;
    marks_.mark_unsaved(call.unit);
    table_.note_writable(call.unit);
    s.producing = 0;
    habits_.note_write(s);
    out.add(action_kind::operate_here, call.unit).m = call;
    return;
  }
  message m = call;
  end_hold(call.unit, s, out);
  m.kind = message_kind::atomic_request;
  m.requester = table_.shape.self;
  table_.send(table_.manager_of(call.unit), m, false, out);
}

/// This node is the owner, all other copies are gone: it may write, and does the operation.
void node_side::on_atomic_fetch(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  CHECK(s.right() == access::write || (s.owner != 0 && s.right() == access::read));  // (I3), (I5), (I20)
  s.set_right(access::write);
  s.written = 1;
  marks_.mark_unsaved(m.unit);
  message r = m;
  r.kind = message_kind::atomic_reply;
  r.region = table_.shape.region;
  r.from = table_.shape.self;
  auto& a = out.add(action_kind::operate, m.unit);
  a.to = m.requester;
  a.m = r;
}

void node_side::on_atomic_reply(const message& m, actions& out) {
  if ((m.flags & message_flag::settled) == 0) send_done(m.unit, out);
  out.add(action_kind::complete, m.unit).m = m;
}

}  // namespace quire::sequential
