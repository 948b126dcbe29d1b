// SPDX-License-Identifier: BSD-3-Clause
// A node of the job is lost, and the others go on (README.md, Deaths). The order of calls, on every survivor, is that
// of src/watch/recovery.hpp: cut() for all units; absorb() for what was sent before its sender knew of the death;
// report() for all units; settle() for all units that this node manages now.
#include "protocol/sequential/loss.hpp"

namespace quire::sequential {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

namespace {
/// Of a survivor's report.
constexpr std::uint64_t owns = 1, writes = 2;
/// Of `owner_is`: what its receiver has is all that there is; or nobody has the unit.
constexpr std::uint64_t regained = 1, nobody_has = 2;
/// What `survives` says, in its `operation`: of a survivor, or of a node that leaves.
enum word : std::uint32_t { survives = 0, take, elsewhere };
/// A node has just left that managed the unit, nobody has died since all went on last, and all that those sent that
/// left has come: so nobody can have it, and it is as at the beginning, though this node has asked for it in vain.
bool is_left_alone(const unit_table& table, std::uint64_t unit) noexcept {
  const model::membership& members = *table.shape.members;
  const node_id first = table.shape.managers.of(unit);
  const std::uint64_t fresh = members.dead & ~members.mended;
  return (fresh >> first.value() & 1) != 0 && (fresh & (~members.left | members.torn)) == 0 &&
         table.origin_of(unit) == table.shape.self && first != table.shape.self;
}

}  // namespace

/// Nothing is under way any more. Threads that wait are woken, to try again when all is over.
void losses::cut(std::uint64_t unit, actions& out) {
  CHECK(table_.shape.members != nullptr && table_.shape.nodes.exact());
  marks_.cut_round(unit);
  directory_entry& e = table_.entries[unit];
  while (!e.requests.empty()) table_.requests.pop(e.requests);
  const bool lost = e.touched == directory_entry::lost;
  const auto flushing = e.flushing;  // to a store of this node, which lives
  const bool manages = table_.manager_of(unit) == table_.shape.self;
  const bool dirty = e.dirty != 0 || (manages && may_write(table_.units[unit], table_.shape.self));
  e = {};
  e.dirty = dirty ? 1 : 0;
  e.flushing = flushing;
  if (lost) e.touched = directory_entry::lost;
  if (pin* const p = table_.pins.find(table_.shape.region, unit); p != nullptr) p->waiting = {};
  unit_state& s = table_.units[unit];
  if (s.touched == 0) return;
  const bool waits = s.pending() != access::none;
  if (waits) {
    // The owner's content has come, only acknowledgements were missing: some of those who owe them may still have
    // copies.
    if (s.replied != 0) {
      if (s.right() == access::none) s.set_right(access::read);
      s.owner = 1;
    }
    s.set_pending(access::none);
    --table_.outstanding;
  }
  s.replied = s.held = s.hold = s.withhold = s.read_ahead = 0;
  s.acks_expected = s.acks_got = 0;
  if (s.right() != access::write) s.probe = 0;
  if (waits) out.add(action_kind::wake, unit);
}

/// Orders and requests are dropped: who asked will ask again, and who was to give something up keeps it. What must not
/// get lost is content that its sender has given up, and that an operation was done.
void losses::absorb(const message& m, actions& out) {
  switch (m.kind) {
    case message_kind::read_reply:
    case message_kind::write_reply: {
      unit_state& s = table_.touch(m.unit);
      if ((m.flags & (message_flag::zero | message_flag::no_data)) == 0) s.written = 1;
      if (s.right() == access::none) s.set_right(access::read);
      marks_.note_content(m);
      if (m.kind != message_kind::write_reply) return;
      s.owner = 1;
      marks_.note_backup(m.unit, m.from.value() + 1u);
      return;
    }
    case message_kind::replica:
      return marks_.keep_replica(m);
    case message_kind::survives:
      if (m.operation == word::elsewhere) on_elsewhere(m);
      return;
    case message_kind::atomic_reply:
    case message_kind::push_reply:
      out.add(action_kind::complete, m.unit).m = m;
      return;
    default:
      return;
  }
}

/// Whether the store of the unit's manager may be older than what this node has, or is about to have. The manager's
/// node sees when its threads are let in.
bool losses::may_write(const unit_state& s, node_id manager) const noexcept {
  if (!table_.shape.stored) return false;
  return manager == table_.shape.self ? s.mapped() == access::write || s.pinned != 0 : s.right() == access::write;
}

/// To the unit's manager, which may be this node.
void losses::report(std::uint64_t unit, actions& out) {
  const node_id manager = table_.manager_of(unit);
  const unit_state& s = table_.units[unit];
  if (s.touched == 0 && manager == table_.shape.self && table_.origin_of(unit) == table_.shape.self)
    return;  // as at the beginning
  if (table_.replicated() && s.lost != 0) return tell_elsewhere(unit, manager, true, out);
  const bool copy = table_.right_of(unit) != access::none;
  if (!copy && (!table_.replicated() || table_.shape.replicas.units[unit].stamp == 0)) return;
  message m;
  m.kind = message_kind::survives;
  m.unit = unit;
  m.requester = table_.shape.self;
  if (copy) {
    m.a = s.owner | (may_write(s, manager) ? writes : 0u);
  } else {
    m.b = table_.shape.replicas.units[unit].stamp;
    m.c = 1;
  }
  if (manager == table_.shape.self) return on_survives(m);
  table_.send(manager, m, false, out);
}

void losses::on_survives(const message& m) {
  if (m.operation == word::elsewhere) return on_elsewhere(m);
  directory_entry& e = table_.entries[m.unit];
  if (m.c != 0) {  // the best of them waits in the queue
    table_.used.add(m.unit);
    if (!e.requests.empty() && table_.requests.front(e.requests).b >= m.b) return;
    if (!e.requests.empty()) table_.requests.pop(e.requests);
    return table_.requests.push(e.requests, m);
  }
  if (e.touched == 0) {
    table_.used.add(m.unit);
    e.touched = 1;
    e.owner = m.requester;
  }
  e.copies.add(table_.shape.nodes, m.requester);
  if ((m.a & writes) != 0) e.dirty = 1;
  if ((m.a & owns) == 0) return;
  e.owner = m.requester;
  ++e.acks_left;  // how many call themselves the owner
}

/// All reports are here. Any copy is as good as the owner's (README.md, I4); where nobody has one, the content was the
/// dead node's alone (I16).
void losses::settle(std::uint64_t unit, actions& out) {
  if (table_.manager_of(unit) != table_.shape.self) return;
  directory_entry& e = table_.entries[unit];
  message best;
  if (!e.requests.empty()) {
    best = table_.requests.front(e.requests);
    table_.requests.pop(e.requests);
  }
  if (e.touched == 0) {
    const bool at_home = table_.units[unit].touched == 0 && table_.origin_of(unit) == table_.shape.self;
    if (at_home) return;
    if (is_left_alone(table_, unit)) return table_.regain(unit);
    if (table_.shape.refills) return flushes_.begin_again(unit, e, out);
    if (!restore(unit, e, best, out)) lose(unit, out);
    return;
  }
  if (e.touched == directory_entry::lost) return;
  const unsigned claims = e.acks_left;
  e.acks_left = 0;
  if (claims == 1) return;
  auto& a = out.add(action_kind::multicast, unit);
  a.targets = {e.copies, table_.shape.nodes, table_.shape.self, table_.shape.self};
  a.m.kind = message_kind::owner_is;
  a.m.unit = unit;
  a.m.region = table_.shape.region;
  a.m.from = table_.shape.self;
  a.m.requester = e.owner;
  if (table_.right_of(unit) != access::none) on_owner_is(a.m);
}

/// Old replicas may be left, and this node may be the next to die: all survivors know that the unit is lost, and will
/// say so.
void losses::lose(std::uint64_t unit, actions& out) {
  table_.entries[unit].touched = directory_entry::lost;
  if (!table_.replicated()) return;
  message m;
  m.kind = message_kind::owner_is;
  m.unit = unit;
  m.requester = table_.shape.self;
  m.a = nobody_has;
  for (std::uint16_t n = 0; n < table_.shape.nodes.nodes; ++n) {
    if (node_id{n} != table_.shape.self && !table_.is_dead(node_id{n})) table_.send(node_id{n}, m, false, out);
  }
  table_.touch(unit).lost = 1;
}

void losses::on_owner_is(const message& m) {
  if (m.a == regained) return table_.regain(m.unit);
  unit_state& s = table_.touch(m.unit);
  if (m.a == nobody_has) {
    s.lost = 1;
    return;
  }
  if (s.right() == access::none) return;
  if (s.owner == 0 && table_.replicated()) table_.shape.replicas.units[m.unit].backup = 0;
  s.owner = m.requester == table_.shape.self ? 1 : 0;
}

void losses::on_unit_lost(const message& m, actions& out) {
  const auto asked = static_cast<message_kind>(m.operation);
  unit_state& s = table_.touch(m.unit);
  s.lost = 1;
  if (asked == message_kind::atomic_request || asked == message_kind::push_request) {
    out.add(action_kind::complete, m.unit).m = m;
    return;
  }
  CHECK(s.pending() != access::none);
  s.set_pending(access::none);
  s.hold = s.withhold = s.read_ahead = s.probe = 0;
  --table_.outstanding;
  out.add(action_kind::wake, m.unit);
}

/// The owner's backup is dead, or nobody knows of one on another host: the content is to be sent to another.
void losses::mend(std::uint64_t unit, actions&) {
  const unit_state& s = table_.units[unit];
  if (!table_.replicated() || s.owner == 0 || s.written == 0) return;
  if (marks_.is_usable(table_.shape.replicas.units[unit].backup)) return;
  marks_.mark_unsaved(unit);
  table_.shape.replicas.rounds->wanted = true;
}

/// Nobody alive has a right to the unit: the newest replica is what it was when it was last safe; where there is none,
/// it was zero. Not if nodes of two hosts have died at once, now or when its first manager did: they may have been
/// owner and backup.
bool losses::restore(std::uint64_t unit, directory_entry& e, const message& best, actions& out) {
  if (!table_.replicated()) return false;
  const bool found = best.kind == message_kind::survives;
  if (table_.shape.members->fresh() > 1) return false;
  if (!found && table_.shape.members->died_together(table_.shape.managers.of(unit))) return false;
  const node_id owner = found ? best.requester : table_.shape.self;
  e.touched = 1;
  e.owner = owner;
  e.copies = model::copyset::of(table_.shape.nodes, owner);
  table_.used.add(unit);
  message m;
  m.kind = message_kind::owner_is;
  m.unit = unit;
  m.requester = owner;
  m.a = regained;
  if (owner != table_.shape.self) {
    table_.send(owner, m, false, out);
  } else {
    table_.regain(unit);
  }
  return true;
}

// ---- A node leaves (README.md, Leaving)

bool losses::keeps(std::uint64_t unit) const noexcept {
  const unit_state& s = table_.units[unit];
  return s.touched != 0 && (s.owner != 0 || s.pending() != access::none);
}

/// The owner is asked to give the unit up by the node that is to have it, as if a thread there was about to write.
void losses::hand_over(std::uint64_t unit, node_id to, actions& out) {
  if (table_.units[unit].owner == 0) return;
  message m;
  m.kind = message_kind::survives;
  m.operation = word::take;
  m.unit = unit;
  m.requester = table_.shape.self;
  table_.send(to, m, false, out);
}

/// That a unit is lost only its manager knows.
void losses::tell_heir(std::uint64_t unit, actions& out) {
  const node_id self = table_.shape.self, first = table_.shape.managers.of(unit);
  const bool lost = table_.manager_of(unit) == self && table_.entries[unit].touched == directory_entry::lost;
  if (!lost && (first != self || table_.units[unit].touched == 0)) return;
  model::membership without = *table_.shape.members;
  without.learn(std::uint64_t{1} << self.value(), std::uint64_t{1} << self.value());
  tell_elsewhere(unit, without.successor(first, table_.shape.nodes.nodes), lost, out);
}

/// To who manages it now, which may be this node: the unit is not as at the beginning.
void losses::tell_elsewhere(std::uint64_t unit, node_id manager, bool lost, actions& out) {
  message m;
  m.kind = message_kind::survives;
  m.operation = word::elsewhere;
  m.unit = unit;
  m.requester = table_.shape.self;
  m.a = lost ? 1 : 0;
  if (manager == table_.shape.self) return on_elsewhere(m);
  table_.send(manager, m, false, out);
}

/// Who waits at this node asks its successor.
void losses::forget_managed(std::uint64_t unit) {
  directory_entry& e = table_.entries[unit];
  while (!e.requests.empty()) table_.requests.pop(e.requests);
  e = {};
}

bool losses::is_to_take(const message& m) noexcept { return m.operation == word::take; }

/// Whether this node, which takes over what the sender managed, knows of that already or not.
void losses::on_elsewhere(const message& m) {
  if (m.a != 0) {
    table_.used.add(m.unit);
    table_.entries[m.unit].touched = directory_entry::lost;
  }
  if (table_.units[m.unit].touched != 0) return;
  unit_state& s = table_.touch(m.unit);
  s.owner = 0;
  s.set_right(access::none);
}

}  // namespace quire::sequential
