// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/sequential/replica_marks.hpp"

namespace quire::sequential {

using model::message_kind;
namespace message_flag = model::message_flag;

void replica_marks::append(unit_chain& chain, std::uint64_t unit) noexcept {
  const auto number = static_cast<std::uint32_t>(unit + 1);
  table_.shape.replicas.units[unit].next = 0;
  if (chain.tail != 0) {
    table_.shape.replicas.units[chain.tail - 1].next = number;
  } else {
    chain.head = number;
  }
  chain.tail = number;
}

/// Threads here may write from now on.
void replica_marks::mark_unsaved(std::uint64_t unit) noexcept {
  if (!table_.replicated()) return;
  replica_state& r = table_.shape.replicas.units[unit];
  if (r.unsaved != 0) return;
  CHECK(r.saving == 0);
  r.unsaved = 1;
  ++table_.shape.replicas.rounds->unsaved;
  append(table_.shape.replicas.book->unsaved, unit);
}

/// Content, or a right to what is here already, has come with `m`.
void replica_marks::note_content(const message& m) noexcept {
  if (!table_.replicated()) return;
  replica_book& book = *table_.shape.replicas.book;
  if (m.b > book.clock) book.clock = m.b;
  if (m.b != 0) table_.shape.replicas.units[m.unit].stamp = m.b;
}

void replica_marks::note_backup(std::uint64_t unit, unsigned number) noexcept {
  if (!table_.replicated() || number == 0) return;
  table_.shape.replicas.units[unit].backup = static_cast<std::uint8_t>(number);
  table_.shape.replicas.units[unit].wished = 0;
}

/// A grant without content: the owner until now has the content too, and keeps it.
void replica_marks::tell_backup(node_id requester, const directory_entry& e, message& grant) const noexcept {
  if (!table_.replicated()) return;
  if (requester != e.owner) grant.a = e.owner.value() + 1u;
}

/// Whether node `to` has the very content of the unit, of which this node is the owner, though no right to it.
bool replica_marks::is_backup(std::uint64_t unit, node_id to) const noexcept {
  return table_.replicated() && table_.units[unit].owner != 0 && table_.units[unit].written != 0 &&
         table_.shape.replicas.units[unit].backup == to.value() + 1u;
}

/// On another host, where there is one: who asked last, as it will ask again; else the backup that there is; else one
/// by this node's number. This node, if it is alone.
node_id replica_marks::choose_backup(const replica_state& r) const noexcept {
  if (is_usable(r.wished)) return node_id{static_cast<std::uint16_t>(r.wished - 1)};
  if (is_usable(r.backup)) return node_id{static_cast<std::uint16_t>(r.backup - 1)};
  return table_.shape.members->backup(table_.shape.self, table_.shape.nodes.nodes);
}

/// The node of this number less one lives, and not on this node's host if others do.
bool replica_marks::is_usable(unsigned number) const noexcept {
  return number != 0 &&
         table_.shape.members->is_backup(table_.shape.self, node_id{static_cast<std::uint16_t>(number - 1)},
                                         table_.shape.nodes.nodes);
}

/// The content is in this node's frame.
void replica_marks::keep_replica(const message& m) {
  CHECK(table_.replicated());
  unit_state& s = table_.touch(m.unit);
  CHECK(s.right() != access::write);
  s.written = 1;
  note_content(m);
}

// ---- What waits for the end of a round

/// An order that would show others what is not safe yet, or change what is being sent, is kept.
bool replica_marks::waits_for_round(const message& m) {
  if (!table_.replicated()) return false;
  replica_state& r = table_.shape.replicas.units[m.unit];
  switch (m.kind) {
    case message_kind::fetch_read:
    case message_kind::fetch_write:
      r.wished = static_cast<std::uint8_t>(m.requester.value() + 1);
      break;
    case message_kind::fetch_push:
      break;
    case message_kind::atomic_fetch:
      if (r.saving == 0) return false;
      break;
    default:
      return false;
  }
  if (r.unsaved == 0 && r.saving == 0) return false;
  table_.requests.push(r.orders, m);
  if (r.unsaved != 0) table_.shape.replicas.rounds->wanted = true;
  ++table_.count.replica_waits;
  return true;
}

/// An operation of a thread here on what is being sent. Its manager may be serving others, who wait for the end of a
/// pin here.
void replica_marks::wait_for_round(const message& call) {
  message m = call;
  m.kind = message_kind::atomic_request;
  table_.requests.push(table_.shape.replicas.units[call.unit].orders, m);
}

/// At the manager: the request at the front of the queue could be settled, but for the content, which is not safe.
bool replica_marks::stalls(const message& m) {
  if (!table_.replicated() || m.requester == table_.shape.self || (m.flags & message_flag::keep) != 0) return false;
  replica_state& r = table_.shape.replicas.units[m.unit];
  if (table_.units[m.unit].pinned != 0 || m.kind == message_kind::push_request) return false;
  if (r.saving == 0 && (r.unsaved == 0 || m.kind == message_kind::atomic_request)) return false;
  if (m.kind != message_kind::atomic_request) r.wished = static_cast<std::uint8_t>(m.requester.value() + 1);
  if (r.unsaved != 0) table_.shape.replicas.rounds->wanted = true;
  r.stalled = 1;
  ++table_.count.replica_waits;
  return true;
}

// ---- A node is lost

bool replica_marks::take_saved(std::uint64_t& unit) noexcept {
  unit_chain& saving = table_.shape.replicas.book->saving;
  if (saving.head == 0) return false;
  unit = saving.head - 1;
  saving.head = table_.shape.replicas.units[unit].next;
  if (saving.head == 0) saving.tail = 0;
  table_.shape.replicas.units[unit].next = 0;
  return true;
}

/// The round under way has no end: its units are unsaved, as before. Who asked for them will ask again; threads that
/// wait for its end wait for the next one's.
void replica_marks::cut_round(std::uint64_t unit) noexcept {
  if (!table_.replicated()) return;
  replica_rounds& rounds = *table_.shape.replicas.rounds;
  rounds.active = false;
  rounds.unanswered = table_.shape.replicas.book->unanswered = 0;
  for (std::uint64_t one = 0; take_saved(one);) {
    table_.shape.replicas.units[one].saving = 0;
    mark_unsaved(one);
  }
  if (rounds.unsaved != 0) rounds.wanted = true;
  replica_state& r = table_.shape.replicas.units[unit];
  r.stalled = 0;
  while (!r.orders.empty()) table_.requests.pop(r.orders);
  if (r.wished != 0 && table_.is_dead(node_id{static_cast<std::uint16_t>(r.wished - 1)})) r.wished = 0;
}

bool replica_marks::is_valid(std::uint64_t unit) const noexcept {
  const unit_state& s = table_.units[unit];
  const replica_state& r = table_.shape.replicas.units[unit];
  if (r.unsaved != 0 && (s.owner == 0 || r.saving != 0)) return false;
  if (r.saving != 0 && (s.owner == 0 || s.mapped() == access::write)) return false;
  if (s.mapped() == access::write && r.unsaved == 0) return false;
  if (r.stalled != 0 && table_.entries[unit].requests.empty()) return false;
  return r.stalled == 0 || r.unsaved != 0 || r.saving != 0;
}

}  // namespace quire::sequential
