// SPDX-License-Identifier: BSD-3-Clause
// The content of every unit that was written is on two nodes (README.md, Replicas): its owner's and a backup's, whose
// frame keeps it without a right. Nobody learns of what this node wrote, by content or by synchronisation, before it is
// safe (README.md, I12).
#include "protocol/sequential/machine.hpp"

namespace quire::sequential {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

void machine::append(unit_chain& chain, std::uint64_t unit) noexcept {
  const auto number = static_cast<std::uint32_t>(unit + 1);
  shape_.replicas.units[unit].next = 0;
  if (chain.tail != 0) {
    shape_.replicas.units[chain.tail - 1].next = number;
  } else {
    chain.head = number;
  }
  chain.tail = number;
}

/// Threads here may write from now on.
void machine::mark_unsaved(std::uint64_t unit) noexcept {
  if (!replicated()) return;
  replica_state& r = shape_.replicas.units[unit];
  if (r.unsaved != 0) return;
  CHECK(r.saving == 0);
  r.unsaved = 1;
  ++shape_.replicas.rounds->unsaved;
  append(shape_.replicas.book->unsaved, unit);
}

/// Content, or a right to what is here already, has come with `m`.
void machine::note_content(const message& m) noexcept {
  if (!replicated()) return;
  replica_book& book = *shape_.replicas.book;
  if (m.b > book.clock) book.clock = m.b;
  if (m.b != 0) shape_.replicas.units[m.unit].stamp = m.b;
}

void machine::note_backup(std::uint64_t unit, unsigned number) noexcept {
  if (!replicated() || number == 0) return;
  shape_.replicas.units[unit].backup = static_cast<std::uint8_t>(number);
  shape_.replicas.units[unit].wished = 0;
}

/// A grant without content: the owner until now has the content too, and keeps it.
void machine::tell_backup(node_id requester, const directory_entry& e, message& grant) const noexcept {
  if (!replicated()) return;
  if (requester != e.owner) grant.a = e.owner.value() + 1u;
}

/// Whether node `to` has the very content of the unit, of which this node is the owner, though no right to it.
bool machine::is_backup(std::uint64_t unit, node_id to) const noexcept {
  return replicated() && units_[unit].owner != 0 && units_[unit].written != 0 &&
         shape_.replicas.units[unit].backup == to.value() + 1u;
}

/// Who asked last, as it will ask again; else the backup that there is; else the next node alive. This node, if it is
/// alone.
node_id machine::choose_backup(const replica_state& r) const noexcept {
  const auto usable = [&](unsigned number) {
    const node_id node{static_cast<std::uint16_t>(number - 1)};
    return number != 0 && node != shape_.self && !is_dead(node);
  };
  if (usable(r.wished)) return node_id{static_cast<std::uint16_t>(r.wished - 1)};
  if (usable(r.backup)) return node_id{static_cast<std::uint16_t>(r.backup - 1)};
  node_id next = shape_.self;
  do {
    next = node_id{static_cast<std::uint16_t>((next.value() + 1) % shape_.nodes.nodes)};
  } while (next != shape_.self && is_dead(next));
  return next;
}

// ---- rounds

void machine::begin_round() noexcept {
  replica_book& book = *shape_.replicas.book;
  CHECK(book.saving.head == 0);
  book.saving = book.unsaved;
  book.unsaved = {};
  if (book.saving.head != 0) ++book.clock;
}

std::uint64_t machine::first_in_round() const noexcept { return std::uint64_t{shape_.replicas.book->saving.head} - 1; }

std::uint64_t machine::next_in_round(std::uint64_t unit) const noexcept {
  return std::uint64_t{shape_.replicas.units[unit].next} - 1;
}

void machine::on_save(std::uint64_t unit, actions& out) {
  replica_rounds& rounds = *shape_.replicas.rounds;
  unit_state& s = units_[unit];
  replica_state& r = shape_.replicas.units[unit];
  CHECK(r.unsaved != 0 && r.saving == 0 && s.owner != 0);
  r.unsaved = 0;
  r.saving = 1;
  --rounds.unsaved;
  if (s.mapped() == access::write) {
    auto& a = out.add(action_kind::protect, unit);
    a.from = access::write;
    a.level = access::read;
    s.set_mapped(access::read);
  }
  // Others may have copies, and know of no higher stamp: the content is what it was, and only its backup is gone.
  if (s.right() == access::write) r.stamp = shape_.replicas.book->clock;
  const node_id to = choose_backup(r);
  r.backup = r.wished = 0;
  if (to == shape_.self) return;
  r.backup = static_cast<std::uint8_t>(to.value() + 1);
  message m;
  m.kind = message_kind::replica;
  m.unit = unit;
  m.requester = shape_.self;
  m.b = r.stamp;
  send(to, m, true, out);
  ++rounds.unanswered;
  ++shape_.replicas.book->unanswered;
  ++count_.replicas_sent;
}

bool machine::take_saved(std::uint64_t& unit) noexcept {
  unit_chain& saving = shape_.replicas.book->saving;
  if (saving.head == 0) return false;
  unit = saving.head - 1;
  saving.head = shape_.replicas.units[unit].next;
  if (saving.head == 0) saving.tail = 0;
  shape_.replicas.units[unit].next = 0;
  return true;
}

/// The round has ended. First whoever asked for the unit meanwhile, then threads of this node: else these might never
/// let it go.
void machine::on_saved(std::uint64_t unit, actions& out) {
  replica_state& r = shape_.replicas.units[unit];
  CHECK(r.saving != 0);
  r.saving = 0;
  if (r.stalled != 0) {
    r.stalled = 0;
    directory_entry& e = entries_[unit];
    const message first = requests_.front(e.requests);
    if (settle(first, e, out)) {
      finish(unit, e, out);
    } else {
      serve(unit, e, out);
    }
  }
}

/// Behind an operation of this node's own, an order of another waits for the next round.
bool machine::has_order(std::uint64_t unit) const noexcept {
  const replica_state& r = shape_.replicas.units[unit];
  if (r.orders.empty()) return false;
  if (r.unsaved == 0 || requests_.front(r.orders).kind == message_kind::atomic_request) return true;
  shape_.replicas.rounds->wanted = true;
  return false;
}

void machine::on_order(std::uint64_t unit, actions& out) {
  replica_state& r = shape_.replicas.units[unit];
  const message order = requests_.front(r.orders);
  requests_.pop(r.orders);
  if (order.kind == message_kind::atomic_request) return on_atomic(order, out);
  on_message(order, out);
}

void machine::on_replica(const message& m, actions& out) {
  keep_replica(m);
  message r = reply_to(m, message_kind::replica_ack);
  send(m.from, r, false, out);
}

/// The content is in this node's frame.
void machine::keep_replica(const message& m) {
  CHECK(replicated());
  unit_state& s = touch(m.unit);
  CHECK(s.right() != access::write);
  s.written = 1;
  note_content(m);
}

void machine::on_replica_ack(const message& m) {
  CHECK(replicated() && shape_.replicas.units[m.unit].saving != 0 && shape_.replicas.rounds->unanswered != 0);
  --shape_.replicas.rounds->unanswered;
  --shape_.replicas.book->unanswered;
}

// ---- what waits for the end of a round

/// An order that would show others what is not safe yet, or change what is being sent, is kept.
bool machine::waits_for_round(const message& m) {
  if (!replicated()) return false;
  replica_state& r = shape_.replicas.units[m.unit];
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
  requests_.push(r.orders, m);
  if (r.unsaved != 0) shape_.replicas.rounds->wanted = true;
  ++count_.replica_waits;
  return true;
}

/// An operation of a thread here on what is being sent. Its manager may be serving others, who wait for the end of a
/// pin here.
void machine::wait_for_round(const message& call) {
  message m = call;
  m.kind = message_kind::atomic_request;
  requests_.push(shape_.replicas.units[call.unit].orders, m);
}

/// At the manager: the request at the front of the queue could be settled, but for the content, which is not safe.
bool machine::stalls(const message& m) {
  if (!replicated() || m.requester == shape_.self || (m.flags & message_flag::keep) != 0) return false;
  replica_state& r = shape_.replicas.units[m.unit];
  if (units_[m.unit].pinned != 0 || m.kind == message_kind::push_request) return false;
  if (r.saving == 0 && (r.unsaved == 0 || m.kind == message_kind::atomic_request)) return false;
  if (m.kind != message_kind::atomic_request) r.wished = static_cast<std::uint8_t>(m.requester.value() + 1);
  if (r.unsaved != 0) shape_.replicas.rounds->wanted = true;
  r.stalled = 1;
  ++count_.replica_waits;
  return true;
}

// ---- a node is lost (loss.cpp)

/// The round under way has no end: its units are unsaved, as before. Who asked for them will ask again; threads that
/// wait for its end wait for the next one's.
void machine::cut_round(std::uint64_t unit) noexcept {
  if (!replicated()) return;
  replica_rounds& rounds = *shape_.replicas.rounds;
  rounds.active = false;
  rounds.unanswered = shape_.replicas.book->unanswered = 0;
  for (std::uint64_t one = 0; take_saved(one);) {
    shape_.replicas.units[one].saving = 0;
    mark_unsaved(one);
  }
  if (rounds.unsaved != 0) rounds.wanted = true;
  replica_state& r = shape_.replicas.units[unit];
  r.stalled = 0;
  while (!r.orders.empty()) requests_.pop(r.orders);
  if (r.wished != 0 && is_dead(node_id{static_cast<std::uint16_t>(r.wished - 1)})) r.wished = 0;
}

/// The owner's backup is dead, or nobody knows of one: the content is to be sent to another.
void machine::mend(std::uint64_t unit) {
  const unit_state& s = units_[unit];
  if (!replicated() || s.owner == 0 || s.written == 0) return;
  const replica_state& r = shape_.replicas.units[unit];
  if (r.backup != 0 && !is_dead(node_id{static_cast<std::uint16_t>(r.backup - 1)})) return;
  mark_unsaved(unit);
  shape_.replicas.rounds->wanted = true;
}

/// Nobody alive has a right to the unit: the newest replica is what it was when it was last safe; where there is none,
/// it was zero. Not if two nodes have died at once: they may have been owner and backup.
bool machine::restore(std::uint64_t unit, directory_entry& e, const message& best, actions& out) {
  if (!replicated()) return false;
  const bool found = best.kind == message_kind::survives;
  if (shape_.members->fresh() > 1) return false;
  const node_id owner = found ? best.requester : shape_.self;
  e.touched = 1;
  e.owner = owner;
  e.copies = model::copyset::of(shape_.nodes, owner);
  used_.add(unit);
  message m;
  m.kind = message_kind::owner_is;
  m.unit = unit;
  m.requester = owner;
  m.a = 1;
  if (owner != shape_.self) {
    send(owner, m, false, out);
  } else {
    regain(unit);
  }
  return true;
}

/// This node's frame is all that there is of the unit.
void machine::regain(std::uint64_t unit) {
  unit_state& s = touch(unit);
  s.lost = 0;
  s.owner = 1;
  s.set_right(access::write);
  shape_.replicas.units[unit].backup = 0;
}

bool machine::is_valid_replica(std::uint64_t unit) const noexcept {
  const unit_state& s = units_[unit];
  const replica_state& r = shape_.replicas.units[unit];
  if (r.unsaved != 0 && (s.owner == 0 || r.saving != 0)) return false;
  if (r.saving != 0 && (s.owner == 0 || s.mapped() == access::write)) return false;
  if (s.mapped() == access::write && r.unsaved == 0) return false;
  if (r.stalled != 0 && entries_[unit].requests.empty()) return false;
  return r.stalled == 0 || r.unsaved != 0 || r.saving != 0;
}

// ---- the region goes

bool machine::at_rest() noexcept {
  const bool saved = !replicated() || (shape_.replicas.book->unsaved.head == 0 && shape_.replicas.book->saving.head == 0);
  if (!saved) shape_.replicas.rounds->wanted = true;
  return saved && outstanding_ == 0;
}

/// Where it goes without having come to rest, as a death has it, requests and rounds end with it.
void machine::forget() noexcept {
  if (replicated()) {
    replica_rounds& rounds = *shape_.replicas.rounds;
    replica_book& book = *shape_.replicas.book;
    for (std::uint64_t unit = std::uint64_t{book.unsaved.head} - 1; unit < shape_.units; unit = next_in_round(unit)) --rounds.unsaved;
    rounds.unanswered -= book.unanswered;
  }
  for (std::uint64_t unit = used_.first(); unit < used_.end() && requests_.in_use() != 0; ++unit) {
    while (!entries_[unit].requests.empty()) requests_.pop(entries_[unit].requests);
    while (replicated() && !shape_.replicas.units[unit].orders.empty()) requests_.pop(shape_.replicas.units[unit].orders);
  }
  used_.clear();
  own_.reset();
  units_ = nullptr;
  entries_ = nullptr;
  shape_.replicas = {};
}

}  // namespace quire::sequential
