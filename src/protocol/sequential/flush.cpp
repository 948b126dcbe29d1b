// SPDX-License-Identifier: BSD-3-Clause
// A unit that a store keeps begins there: its manager's node is the owner, and has the content in the store only. From
// the first right to write it is dirty.
//
// A flush needs the content at the manager's node, and nobody who may write it. A node with a copy has just that
// between two requests: if others have copies all may read (README.md, I3), and its own view is lowered. Where it has
// no copy it asks for one, as if a thread wanted to read. The owner has to ask before it writes again, wherever it is.
// So no message is there for flushes alone.
#include "protocol/sequential/flush.hpp"

namespace quire::sequential {

using model::action_kind;
using model::flush_outcome;
using model::message_kind;

flush_outcome flushes::on_flush(std::uint64_t unit, actions& out) {
  CHECK(table_.shape.stored && table_.manager_of(unit) == table_.shape.self);
  if (table_.entries[unit].touched == 0) return flush_outcome::clean;
  directory_entry& e = table_.entries[unit];
  if (e.dirty == 0) return e.flushing != 0 ? flush_outcome::under_way : flush_outcome::clean;
  e.wanted = 1;
  if (e.requests.empty()) begin(unit, e, out);
  return flush_outcome::next;
}

void flushes::begin(std::uint64_t unit, directory_entry& e, actions& out) {
  if (e.flushing != 0) return;  // on_flushed() comes back: what the store has never becomes older (I18)
  unit_state& s = table_.touch(unit);
  if (s.right() == access::none) {
    if (s.pending() != access::none) return;  // finish() of that request comes back
    s.withhold = 1;
    return node_.ask(unit, s, access::read, out);
  }
  if (s.mapped() == access::write) {
    auto& a = out.add(action_kind::protect, unit);
    a.from = access::write;
    a.level = access::read;
    s.set_mapped(access::read);
  }
  e.dirty = e.wanted = 0;
  e.flushing = 1;
  ++table_.count.flushes;
  out.add(action_kind::flush, unit);
}

void flushes::on_flushed(std::uint64_t unit, bool well, actions& out) {
  directory_entry& e = table_.entries[unit];  // survivors may be putting together what it says (loss.cpp)
  CHECK(e.flushing != 0);
  e.flushing = 0;
  if (!well) e.dirty = 1;
  if (!e.requests.empty() && table_.requests.front(e.requests).kind == message_kind::survives) {
    message m = table_.requests.front(e.requests);
    m.kind = message_kind::done;
    begin_again(unit, e, out);
    return table_.send(table_.shape.self, m, false, out);
  }
  if (e.wanted != 0 && e.requests.empty()) begin(unit, e, out);
  if (e.leaving != 0 && e.requests.empty()) leave(unit, e, out);
}

void flushes::on_unsynced(std::uint64_t unit) {
  if (table_.entries[unit].touched != 0) table_.entries[unit].dirty = 1;
}

/// What is on its way to the store is the newest content that there is: requests wait for its end behind one of this
/// node's own. What is in a frame here may be older, or have never come.
void flushes::begin_again(std::uint64_t unit, directory_entry& e, actions& out) {
  e.touched = 1;
  e.dirty = 0;
  e.owner = table_.shape.self;
  e.copies = model::copyset::of(table_.shape.nodes, table_.shape.self);
  table_.used.add(unit);
  if (e.flushing != 0) {
    message m;
    m.kind = message_kind::survives;
    m.unit = unit;
    m.requester = table_.shape.self;
    return table_.requests.push(e.requests, m);
  }
  table_.regain(unit);
  end_leave(unit, e, model::leave_end::lost, out);
}

bool flushes::is_clean(std::uint64_t unit) const noexcept {
  const directory_entry& e = table_.entries[unit];
  return e.dirty == 0 && e.flushing == 0;
}

// ---- Leaving memory

/// The manager's node gets it alone, as if a thread wanted to write; then it is gone with nobody's knowing.
void flushes::on_leave(std::uint64_t unit, model::leave how, actions& out) {
  CHECK(table_.shape.stored && table_.manager_of(unit) == table_.shape.self);
  directory_entry& e = table_.touch_entry(unit);
  if (e.leaving < static_cast<unsigned>(how)) e.leaving = static_cast<std::uint8_t>(how) & 3u;
  if (e.requests.empty()) leave(unit, e, out);
}

/// Requests that wait come anew. So they wait for what the store has, and are refused if it fails; one that is being
/// served could not be (paging.cpp).
void flushes::leave(std::uint64_t unit, directory_entry& e, actions& out) {
  constexpr unsigned most_anew = 6;  // actions that there is room for
  if (e.flushing != 0) return;       // on_flushed() comes back
  unit_state& s = table_.touch(unit);
  const bool clean = e.leaving == static_cast<std::uint8_t>(model::leave::clean);
  if (clean && (e.dirty != 0 || s.pinned != 0)) return end_leave(unit, e, model::leave_end::stays, out);
  if (s.right() != access::write) {
    if (s.pending() != access::none) return;  // finish() of that request comes back
    s.withhold = 1;
    return node_.ask(unit, s, access::write, out);
  }
  const bool many = table_.requests.size(e.requests, most_anew + 1) > most_anew;
  if (clean && many) return end_leave(unit, e, model::leave_end::stays, out);
  if (many || s.pinned != 0 || e.leaving == static_cast<std::uint8_t>(model::leave::trim)) {
    e.dirty = 1;
    return end_leave(unit, e, model::leave_end::alone, out);
  }
  if (s.mapped() != access::none) {
    auto& a = out.add(action_kind::protect, unit);
    a.from = s.mapped();
    a.level = access::none;
    s.set_mapped(access::none);
  }
  e.dirty = e.wanted = 0;
  end_leave(unit, e, model::leave_end::gone, out);
  while (!e.requests.empty()) {
    table_.send(table_.shape.self, table_.requests.front(e.requests), false, out);
    table_.requests.pop(e.requests);
  }
}

void flushes::end_leave(std::uint64_t unit, directory_entry& e, model::leave_end end, actions& out) {
  e.leaving = 0;
  out.add(action_kind::leave, unit).m.a = static_cast<std::uint64_t>(end);
}

// ---- Content that cannot be had

/// Nothing else waits for content: while a request is being served the home's copy does not leave (paging.cpp).
bool flushes::on_unfilled(const message& m, int error, actions& out) {
  if (m.kind < message_kind::read_request || m.kind > message_kind::push_request) return false;
  message r = table_.reply_to(m, message_kind::unit_refused);
  r.operation = static_cast<std::uint32_t>(error);
  r.a = static_cast<std::uint64_t>(m.kind);
  table_.send(m.requester, r, false, out);
  return true;
}

/// Who asks next may have more luck.
void flushes::on_unit_refused(const message& m, actions& out) {
  const auto asked = static_cast<message_kind>(m.a);
  if (asked == message_kind::atomic_request || asked == message_kind::push_request) {
    out.add(action_kind::complete, m.unit).m = m;
    return;
  }
  unit_state& s = table_.touch(m.unit);
  CHECK(s.pending() != access::none);
  s.set_pending(access::none);
  s.hold = s.withhold = s.read_ahead = s.probe = 0;
  --table_.outstanding;
  out.add(action_kind::refuse, m.unit).m = m;
  if (table_.manager_of(m.unit) != table_.shape.self) return;
  directory_entry& e = table_.touch_entry(m.unit);
  if (e.leaving != 0 && e.requests.empty()) end_leave(m.unit, e, model::leave_end::failed, out);
}

bool flushes::is_valid(std::uint64_t unit) const noexcept {
  const unit_state& s = table_.units[unit];
  if (!table_.shape.stored) return true;
  if (s.touched != 0 && s.written == 0) return false;
  if (table_.manager_of(unit) != table_.shape.self) return true;
  const directory_entry& e = table_.entries[unit];
  if (s.mapped() == access::write && e.dirty == 0) return false;  // (I17)
  return e.wanted == 0 || e.dirty != 0;
}

}  // namespace quire::sequential
