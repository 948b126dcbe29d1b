// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/sequential/machine.hpp"

namespace quire::sequential {

using model::action_kind;
using model::message_kind;

void machine::on_message(const message& m, actions& out) {
  if (locks_.put_off(m) || marks_.waits_for_round(m)) return;
  switch (m.kind) {
    case message_kind::read_request:
    case message_kind::write_request:
    case message_kind::atomic_request:
    case message_kind::push_request:
      return manager_.on_request(m, out);
    case message_kind::done:
      return manager_.on_done(m, out);
    case message_kind::fetch_read:
    case message_kind::fetch_write:
      return node_.on_fetch(m, out);
    case message_kind::fetch_push:
      return pushes_.on_fetch_push(m, out);
    case message_kind::atomic_fetch:
      return node_.on_atomic_fetch(m, out);
    case message_kind::invalidate:
      return node_.on_invalidate(m, out);
    case message_kind::read_reply:
      return node_.on_read_reply(m, out);
    case message_kind::write_reply:
    case message_kind::write_grant:
      return node_.on_write_reply(m, out);
    case message_kind::atomic_reply:
      return node_.on_atomic_reply(m, out);
    case message_kind::invalidate_ack:
      return m.operation != 0 ? manager_.on_manager_ack(m, out) : node_.on_invalidate_ack(m, out);
    case message_kind::push_copy:
      return pushes_.on_push_copy(m, out);
    case message_kind::push_ack:
      return manager_.on_push_ack(m, out);
    case message_kind::owner_here:
      return handovers_.on_owner_here(m);
    case message_kind::copy_dropped:
      return frames_.on_copy_dropped(m);
    case message_kind::replica:
      return rounds_.on_replica(m, out);
    case message_kind::replica_ack:
      return rounds_.on_replica_ack(m);
    case message_kind::survives:
      return losses::is_to_take(m) ? node_.on_take(m.unit, out) : losses_.on_survives(m);
    case message_kind::owner_is:
      return losses_.on_owner_is(m);
    case message_kind::unit_lost:
      return losses_.on_unit_lost(m, out);
    case message_kind::unit_refused:
      return flushes_.on_unit_refused(m, out);
    case message_kind::push_reply:
      out.add(action_kind::complete, m.unit).m = m;
      return;
    default:
      CHECK(!"a message of the sequential protocol");
  }
}

bool machine::is_valid(std::uint64_t unit) const noexcept {
  const unit_state& s = table_.units[unit];
  const bool writes = s.pending() == access::write || table_.right_of(unit) == access::write;
  if (s.probe != 0 && (s.mapped() == access::write || !writes)) return false;  // (I11)
  if (s.producing != 0 && s.mapped() == access::write) return false;           // (I11)
  if (s.mapped() > table_.right_of(unit)) return false;                        // (I2)
  const access most = table_.shape.one_memory ? access::write : access::read;  // without being the owner
  if (s.touched != 0 && (s.owner != 0 ? s.right() == access::none : s.right() > most)) return false;           // (I3)
  if (table_.shape.one_memory && s.touched != 0 && (s.right() == access::read || s.probe != 0)) return false;  // (I20)
  if (s.pending() == access::none && (s.replied != 0 || s.acks_got != 0)) return false;                        // (I9)
  if (table_.replicated() && !marks_.is_valid(unit)) return false;
  if (!flushes_.is_valid(unit)) return false;
  if (s.held != 0 && (s.pending() != access::none || table_.right_of(unit) == access::none)) return false;  // (I13)
  const pin* const p = table_.pins.find(table_.shape.region, unit);
  if (s.pinned != 0 && (p == nullptr || table_.right_of(unit) != access::write)) return false;  // (I8)
  if (s.pinned == 0 && p != nullptr && p->waiting.kind != message_kind::invalid) return false;
  if (table_.manager_of(unit) != table_.shape.self)
    return table_.entries == nullptr || table_.entries[unit].touched != 1;  // its manager may have told that it is lost
  const directory_entry& e = table_.entries[unit];
  return e.touched != 1 || e.copies.may_contain(table_.shape.nodes, e.owner);  // (I4)
}

void machine::on_frames_apart() noexcept {
  const bool together = std::exchange(table_.shape.one_memory, false);
  table_.shape.hosts = {};
  for (std::uint64_t unit = table_.used.first(); unit < table_.used.end(); ++unit) {
    table_.units[unit].set_mapped(access::none);
    if (together) handovers_.make_copies(unit);
  }
}

bool machine::at_rest() noexcept {
  const bool saved = !table_.replicated() ||
                     (table_.shape.replicas.book->unsaved.head == 0 && table_.shape.replicas.book->saving.head == 0);
  if (!saved) table_.shape.replicas.rounds->wanted = true;
  return saved && table_.outstanding == 0;
}

/// Where it goes without having come to rest, as a death has it, requests and rounds end with it.
void machine::forget() noexcept {
  if (table_.replicated()) {
    replica_rounds& rounds = *table_.shape.replicas.rounds;
    replica_book& book = *table_.shape.replicas.book;
    for (std::uint64_t unit = std::uint64_t{book.unsaved.head} - 1; unit < table_.shape.units;
         unit = rounds_.next_in_round(unit))
      --rounds.unsaved;
    rounds.unanswered -= book.unanswered;
  }
  for (std::uint64_t unit = table_.used.first(); unit < table_.used.end() && table_.requests.in_use() != 0; ++unit) {
    while (!table_.entries[unit].requests.empty()) table_.requests.pop(table_.entries[unit].requests);
    while (table_.replicated() && !table_.shape.replicas.units[unit].orders.empty())
      table_.requests.pop(table_.shape.replicas.units[unit].orders);
  }
  table_.used.clear();
  own_.reset();
  table_.units = nullptr;
  table_.entries = nullptr;
  table_.shape.replicas = {};
}

}  // namespace quire::sequential
