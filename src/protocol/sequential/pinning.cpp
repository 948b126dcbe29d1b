// SPDX-License-Identifier: BSD-3-Clause
// Page locking on the node's side (KOAN: acquire and release). A pin takes the unit for writing and keeps it
// (README.md, I8). An order of the manager to give it up meanwhile is kept here, and obeyed when the last pin ends.
// There is never more than one such order, since the manager serves one request of a unit at a time, and a pinned unit
// has no other copies.
#include "protocol/sequential/pinning.hpp"

namespace quire::sequential {

using model::message_kind;

fault_outcome page_locks::on_pin(std::uint64_t unit, actions& out) {
  CHECK(unit < table_.shape.units);
  if (!table_.pins.add(table_.shape.region, unit)) return fault_outcome::refused;
  ++table_.count.pins;
  return on_pin_again(unit, out);
}

fault_outcome page_locks::on_pin_again(std::uint64_t unit, actions& out) {
  CHECK(table_.pins.find(table_.shape.region, unit) != nullptr);
  unit_state& s = table_.touch(unit);
  if (table_.shape.one_memory && s.pinned == 0 && (s.owner == 0 || s.read_first != 0))
    return node_.on_fault_alone(unit, out);
  if (s.right() != access::write) return node_.on_fault(unit, access::write, out);
  s.pinned = 1;
  habits_.note_write(s);
  node_.permit(unit, s, access::write, out);
  // Threads that wait for this node's own upgrade could wait in vain: it may be behind a request that waits for the
  // pin's end.
  if (s.pending() != access::none) out.add(model::action_kind::wake, unit);
  return fault_outcome::local;
}

bool page_locks::on_unpin(std::uint64_t unit, actions& out) {
  if (unit >= table_.shape.units || table_.units[unit].pinned == 0) return false;
  unpin(unit, 1, out);
  return true;
}

void page_locks::on_pin_given_up(std::uint64_t unit, actions& out) { unpin(unit, 1, out); }

void page_locks::on_pins_dropped(std::uint64_t unit, actions& out) {
  const pin* const p = table_.pins.find(table_.shape.region, unit);
  if (p != nullptr) unpin(unit, p->count, out);
}

void page_locks::unpin(std::uint64_t unit, std::uint32_t times, actions& out) {
  pin* const p = table_.pins.find(table_.shape.region, unit);
  CHECK(p != nullptr && p->count >= times);
  if (p->count > times) {
    p->count -= times;
    return;
  }
  const message waiting = p->waiting;
  table_.pins.remove(table_.shape.region, unit);
  table_.units[unit].pinned = 0;
  if (waiting.kind != message_kind::invalid) whole_.on_message(waiting, out);
}

/// Keeps an order that would take the unit, or work on it, until the pin ends. An upgrade of this node's own may be
/// under way (an atomic operation has made the unit writable meanwhile): its grant is no such order.
bool page_locks::put_off(const message& m) {
  switch (m.kind) {
    case message_kind::fetch_read:
    case message_kind::fetch_write:
    case message_kind::fetch_push:
    case message_kind::atomic_fetch:
      break;
    case message_kind::invalidate:
      CHECK(m.unit < table_.shape.units && table_.units[m.unit].pinned == 0);
      return false;
    default:
      return false;
  }
  if (table_.units[m.unit].pinned == 0) return false;
  pin* const p = table_.pins.find(table_.shape.region, m.unit);
  CHECK(p != nullptr && p->waiting.kind == message_kind::invalid);  // (I8)
  p->waiting = m;
  ++table_.count.pin_waits;
  return true;
}

/// While a request is being served, the directory says already what will be.
node_id page_locks::holder_of(std::uint64_t unit) const noexcept {
  const directory_entry& e = table_.entries[unit];
  if (e.touched == 0) return table_.shape.self;
  return e.requests.empty() ? e.owner : e.served_by;
}

}  // namespace quire::sequential
