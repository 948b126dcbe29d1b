// SPDX-License-Identifier: BSD-3-Clause
// The content of every unit that was written is on two nodes (README.md, Replicas): its owner's and a backup's, whose
// frame keeps it without a right. Nobody learns of what this node wrote, by content or by synchronisation, before it is
// safe (README.md, I12).
#include "protocol/sequential/saving.hpp"

namespace quire::sequential {

using model::action_kind;
using model::message_kind;

// ---- Rounds

void saving_rounds::begin_round() noexcept {
  replica_book& book = *table_.shape.replicas.book;
  CHECK(book.saving.head == 0);
  book.saving = book.unsaved;
  book.unsaved = {};
  if (book.saving.head != 0) ++book.clock;
}

std::uint64_t saving_rounds::first_in_round() const noexcept {
  return std::uint64_t{table_.shape.replicas.book->saving.head} - 1;
}

std::uint64_t saving_rounds::next_in_round(std::uint64_t unit) const noexcept {
  return std::uint64_t{table_.shape.replicas.units[unit].next} - 1;
}

void saving_rounds::on_save(std::uint64_t unit, actions& out) {
  replica_rounds& rounds = *table_.shape.replicas.rounds;
  unit_state& s = table_.units[unit];
  replica_state& r = table_.shape.replicas.units[unit];
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
  if (s.right() == access::write) r.stamp = table_.shape.replicas.book->clock;
  const node_id to = marks_.choose_backup(r);
  r.backup = r.wished = 0;
  if (to == table_.shape.self) return;
  r.backup = static_cast<std::uint8_t>(to.value() + 1);
  message m;
  m.kind = message_kind::replica;
  m.unit = unit;
  m.requester = table_.shape.self;
  m.b = r.stamp;
  table_.send(to, m, true, out);
  ++rounds.unanswered;
  ++table_.shape.replicas.book->unanswered;
  ++table_.count.replicas_sent;
}

/// The round has ended. First whoever asked for the unit meanwhile, then threads of this node: else these might never
/// let it go.
void saving_rounds::on_saved(std::uint64_t unit, actions& out) {
  replica_state& r = table_.shape.replicas.units[unit];
  CHECK(r.saving != 0);
  r.saving = 0;
  if (r.stalled != 0) {
    r.stalled = 0;
    directory_entry& e = table_.entries[unit];
    const message first = table_.requests.front(e.requests);
    if (manager_.settle(first, e, out)) {
      manager_.finish(unit, e, out);
    } else {
      manager_.serve(unit, e, out);
    }
  }
}

/// Behind an operation of this node's own, an order of another waits for the next round.
bool saving_rounds::has_order(std::uint64_t unit) const noexcept {
  const replica_state& r = table_.shape.replicas.units[unit];
  if (r.orders.empty()) return false;
  if (r.unsaved == 0 || table_.requests.front(r.orders).kind == message_kind::atomic_request) return true;
  table_.shape.replicas.rounds->wanted = true;
  return false;
}

void saving_rounds::on_order(std::uint64_t unit, actions& out) {
  replica_state& r = table_.shape.replicas.units[unit];
  const message order = table_.requests.front(r.orders);
  table_.requests.pop(r.orders);
  if (order.kind == message_kind::atomic_request) return node_.on_atomic(order, out);
  whole_.on_message(order, out);
}

void saving_rounds::on_replica(const message& m, actions& out) {
  marks_.keep_replica(m);
  message r = table_.reply_to(m, message_kind::replica_ack);
  table_.send(m.from, r, false, out);
}

void saving_rounds::on_replica_ack(const message& m) {
  CHECK(table_.replicated() && table_.shape.replicas.units[m.unit].saving != 0 &&
        table_.shape.replicas.rounds->unanswered != 0);
  --table_.shape.replicas.rounds->unanswered;
  --table_.shape.replicas.book->unanswered;
}

}  // namespace quire::sequential
