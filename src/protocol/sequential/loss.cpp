// SPDX-License-Identifier: BSD-3-Clause
// A node of the job is lost, and the others go on (README.md, Deaths). The order of calls, on every survivor, is that of
// src/watch/recovery.hpp: cut() for all units; absorb() for what was sent before its sender knew of the death; report() for all
// units; settle() for all units that this node manages now.
#include "protocol/sequential/machine.hpp"

namespace quire::sequential {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

/// Nothing is under way any more. Threads that wait are woken, to try again when all is over.
void machine::cut(std::uint64_t unit, actions& out) {
  CHECK(shape_.members != nullptr && shape_.nodes.exact());
  cut_round(unit);
  directory_entry& e = entries_[unit];
  while (!e.requests.empty()) requests_.pop(e.requests);
  const bool lost = e.touched == directory_entry::lost;
  e = {};
  if (lost) e.touched = directory_entry::lost;
  if (pin* const p = pins_.find(shape_.region, unit); p != nullptr) p->waiting = {};
  unit_state& s = units_[unit];
  if (s.touched == 0) return;
  const bool waits = s.pending() != access::none;
  if (waits) {
    // The owner's content has come, only acknowledgements were missing: some of those who owe them may still have copies.
    if (s.replied != 0) {
      if (s.right() == access::none) s.set_right(access::read);
      s.owner = 1;
    }
    s.set_pending(access::none);
    --outstanding_;
  }
  s.replied = s.held = s.hold = s.withhold = s.read_ahead = 0;
  s.acks_expected = s.acks_got = 0;
  if (s.right() != access::write) s.probe = 0;
  if (waits) out.add(action_kind::wake, unit);
}

/// Orders and requests are dropped: who asked will ask again, and who was to give something up keeps it. What must not get lost is
/// content that its sender has given up, and that an operation was done.
void machine::absorb(const message& m, actions& out) {
  switch (m.kind) {
    case message_kind::read_reply:
    case message_kind::write_reply: {
      unit_state& s = touch(m.unit);
      if ((m.flags & (message_flag::zero | message_flag::no_data)) == 0) s.written = 1;
      if (s.right() == access::none) s.set_right(access::read);
      note_content(m);
      if (m.kind != message_kind::write_reply) return;
      s.owner = 1;
      note_backup(m.unit, m.from.value() + 1u);
      return;
    }
    case message_kind::replica: return keep_replica(m);
    case message_kind::atomic_reply:
    case message_kind::push_reply: out.add(action_kind::complete, m.unit).m = m; return;
    default: return;
  }
}

/// To the unit's manager, which may be this node.
void machine::report(std::uint64_t unit, actions& out) {
  const node_id manager = manager_of(unit);
  const unit_state& s = units_[unit];
  if (s.touched == 0 && manager == shape_.self && shape_.managers.of(unit) == shape_.self) return;  // as at the beginning
  const bool copy = right_of(unit) != access::none;
  if (!copy && (!replicated() || shape_.replicas.units[unit].stamp == 0)) return;
  message m;
  m.kind = message_kind::survives;
  m.unit = unit;
  m.requester = shape_.self;
  if (copy) {
    m.a = s.owner;
  } else {
    m.b = shape_.replicas.units[unit].stamp;
    m.c = 1;
  }
  if (manager == shape_.self) return on_survives(m);
  send(manager, m, false, out);
}

void machine::on_survives(const message& m) {
  directory_entry& e = entries_[m.unit];
  if (m.c != 0) {  // the best of them waits in the queue
    used_.add(m.unit);
    if (!e.requests.empty() && requests_.front(e.requests).b >= m.b) return;
    if (!e.requests.empty()) requests_.pop(e.requests);
    return requests_.push(e.requests, m);
  }
  if (e.touched == 0) {
    used_.add(m.unit);
    e.touched = 1;
    e.owner = m.requester;
  }
  e.copies.add(shape_.nodes, m.requester);
  if (m.a == 0) return;
  e.owner = m.requester;
  ++e.acks_left;  // how many call themselves the owner
}

/// All reports are here. Any copy is as good as the owner's (README.md, I4); where nobody has one, the content was the dead node's alone (I16).
void machine::settle(std::uint64_t unit, actions& out) {
  if (manager_of(unit) != shape_.self) return;
  directory_entry& e = entries_[unit];
  message best;
  if (!e.requests.empty()) {
    best = requests_.front(e.requests);
    requests_.pop(e.requests);
  }
  if (e.touched == 0) {
    const bool at_home = units_[unit].touched == 0 && shape_.managers.of(unit) == shape_.self;
    if (!at_home && !restore(unit, e, best, out)) e.touched = directory_entry::lost;
    return;
  }
  if (e.touched == directory_entry::lost) return;
  const unsigned claims = e.acks_left;
  e.acks_left = 0;
  if (claims == 1) return;
  auto& a = out.add(action_kind::multicast, unit);
  a.targets = {e.copies, shape_.nodes, shape_.self, shape_.self};
  a.m.kind = message_kind::owner_is;
  a.m.unit = unit;
  a.m.region = shape_.region;
  a.m.from = shape_.self;
  a.m.requester = e.owner;
  if (right_of(unit) != access::none) on_owner_is(a.m);
}

void machine::on_owner_is(const message& m) {
  if (m.a != 0) return regain(m.unit);
  unit_state& s = touch(m.unit);
  if (s.right() == access::none) return;
  if (s.owner == 0 && replicated()) shape_.replicas.units[m.unit].backup = 0;
  s.owner = m.requester == shape_.self ? 1 : 0;
}

/// The manager's answer to any request for a unit that is lost.
void machine::refuse_lost(const message& m, actions& out) const {
  message r = reply_to(m, message_kind::unit_lost);
  r.operation = static_cast<std::uint32_t>(m.kind);
  send(m.requester, r, false, out);
}

void machine::on_unit_lost(const message& m, actions& out) {
  const auto asked = static_cast<message_kind>(m.operation);
  unit_state& s = touch(m.unit);
  s.lost = 1;
  if (asked == message_kind::atomic_request || asked == message_kind::push_request) {
    out.add(action_kind::complete, m.unit).m = m;
    return;
  }
  CHECK(s.pending() != access::none);
  s.set_pending(access::none);
  s.hold = s.withhold = s.read_ahead = s.probe = 0;
  --outstanding_;
  out.add(action_kind::wake, m.unit);
}

}  // namespace quire::sequential
