// SPDX-License-Identifier: BSD-3-Clause
// Page locking under release consistency (KOAN: acquire and release; the next holder sees what was written under the
// pin, as in entry consistency: Bershad, Zekauskas and Sawdon, "The Midway Distributed Shared Memory System", 1993).
// The home of a unit keeps its pin, like a lock, and sends the content along with it. From then to its end, what other
// nodes ask of the unit (pins, copies, atomic operations) waits at the home, first come first served; what the holder's
// own node asks is served. Copies that nodes have go on being used, the home's too: under release consistency that is
// no business of the holder's.
//
// Ending a pin releases, and getting it acquires, all memory: `pin_end` leaves when all diffs before it are at their
// homes, or on their way to its receiver, and behind their notices. The home tells all that it knows before `pin_grant`
// (node.hpp). The home does not move meanwhile.
#include "protocol/release/pinning.hpp"

#include <algorithm>

namespace quire::release {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

// ---- The node whose threads pin

fault_outcome page_locks::on_pin(std::uint64_t unit, actions& out) {
  CHECK(unit < table_.shape.units);
  if (table_.open.pins == nullptr || !table_.open.pins->add(table_.shape.region, unit)) return fault_outcome::refused;
  ++table_.count.pins;
  return on_pin_again(unit, out);
}

fault_outcome page_locks::on_pin_again(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  if (s.pinned != 0) {
    if (s.is_home == 0 && s.valid == 0) return copies_.on_fault(unit, access::write, out);
    rights_.allow(unit, s, access::write, out);
    return fault_outcome::local;
  }
  if (s.pin_asked != 0) return fault_outcome::joined;
  message m;
  m.kind = message_kind::pin_request;
  m.region = table_.shape.region;
  m.unit = unit;
  m.requester = table_.shape.self;
  if (s.is_home != 0 && s.granted == 0) {
    grants::grant& g = grants_.make(unit, s);
    g.held = true;
    g.holder = table_.shape.self;
    s.pinned = s.assigned = 1;
    rights_.allow(unit, s, access::write, out);
    return fault_outcome::local;
  }
  s.pin_asked = 1;
  ++table_.outstanding;
  if (s.is_home != 0) {
    grants_.put_off(m);
  } else {
    // One way at a time: where content is on its way already, or here, it need not come with the pin.
    s.pin_data = s.valid == 0 && s.asked == 0 ? 1 : 0;
    if (s.pin_data == 0) m.flags |= message_flag::no_data;
    table_.send_home(m, out);
  }
  return fault_outcome::started;
}

bool page_locks::on_unpin(std::uint64_t unit, actions& out) {
  if (unit >= table_.shape.units || table_.units[unit].pinned == 0) return false;
  unpin(unit, 1, out);
  return true;
}

void page_locks::on_pin_given_up(std::uint64_t unit, actions& out) { unpin(unit, 1, out); }

void page_locks::on_pins_dropped(std::uint64_t unit, actions& out) {
  const directory::pin* const p = table_.open.pins->find(table_.shape.region, unit);
  if (p != nullptr) unpin(unit, p->count, out);
}

void page_locks::unpin(std::uint64_t unit, std::uint32_t times, actions& out) {
  directory::pin* const p = table_.open.pins->find(table_.shape.region, unit);
  CHECK(p != nullptr && p->count >= times);
  if (p->count > times) {
    p->count -= times;
    return;
  }
  table_.open.pins->remove(table_.shape.region, unit);
  unit_state& s = table_.units[unit];
  if (s.pinned != 0) end_pin(unit, s, out);
}

void page_locks::end_pin(std::uint64_t unit, unit_state& s, actions& out) {
  s.pinned = 0;
  if (s.is_home != 0) {
    s.pin_ended = 1;
    grants_.find(unit)->held = false;
    return serve_next(unit, s, out);
  }
  message m;
  m.kind = message_kind::pin_end;
  m.unit = unit;
  m.requester = table_.shape.self;
  table_.send_home(m, out);
}

void page_locks::on_pin_grant(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  if (s.pin_asked == 0 || s.is_home != 0) return;
  s.pin_asked = 0;
  --table_.outstanding;
  const bool wanted = table_.open.pins->find(table_.shape.region, m.unit) != nullptr;
  if (wanted) s.pinned = 1;
  bool again = false;
  if (s.pin_data != 0) {
    s.pin_data = 0;
    table_.believe(s, m.from,
                   static_cast<std::uint16_t>(m.a));  // no diff of this node is on the old way: it had no copy
    if ((m.flags & message_flag::zero) == 0) s.written = 1;
    again = copies::is_stale(s, m.from);
    if (again) ++table_.count.stale_replies;
    s.valid = again ? 0 : 1;
    s.version = no_version;
    if (!again && s.pending() != access::none) copies_.arrived(m.unit, s, out);
  }
  if (again && s.pending() != access::none) copies_.ask(m.unit, s, s.pending(), out);
  if (!wanted) {  // who wanted it has given up
    s.pinned = 1;
    return end_pin(m.unit, s, out);
  }
  if (s.valid != 0) {
    rights_.allow(m.unit, s, access::write, out);
    out.add(action_kind::wake, m.unit);
  } else if (s.pending() == access::none) {
    copies_.ask(m.unit, s, access::write, out);
  }
}

// ---- The home

void page_locks::on_pin_request(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  if (table_.passes_on(m, s, out)) return;
  if (m.requester == table_.shape.self && s.pin_asked == 0) return;
  if (s.granted != 0) return grants_.put_off(m);
  give_pin(m, s, grants_.make(m.unit, s), out);
  serve_next(m.unit, s, out);
}

void page_locks::give_pin(const message& m, unit_state& s, grants::grant& g, actions& out) {
  s.assigned = 1;
  if (m.requester == table_.shape.self) {
    s.pin_asked = 0;
    --table_.outstanding;
    if (table_.open.pins->find(table_.shape.region, m.unit) == nullptr) return;  // who wanted it has given up
    g.held = true;
    g.holder = table_.shape.self;
    s.pinned = 1;
    rights_.allow(m.unit, s, access::write, out);
    out.add(action_kind::wake, m.unit);
    return;
  }
  g.held = true;
  g.holder = m.requester;
  message r;
  r.kind = message_kind::pin_grant;
  r.unit = m.unit;
  r.requester = m.requester;
  r.flags = m.flags & message_flag::no_data;
  if (table_.one_memory) {
    r.flags |= message_flag::no_data;
    s.written = 1;
  }
  r.a = s.moves;
  r.b = s.pin_ended;
  s.pin_ended = 0;
  table_.send(m.requester, r, false, out);
}

/// The content leaves now, behind a release of this node perhaps: a copy like any other.
void page_locks::on_grant_leaves(std::uint64_t unit, actions& out) {
  unit_state& s = table_.units[unit];
  table_.watch_writes(unit, s, out);
  s.shared = 1;
}

/// One request that need not wait any longer, if there is one; the others in steps of their own.
void page_locks::serve_next(std::uint64_t unit, unit_state& s, actions& out) {
  grants::grant& g = *grants_.find(unit);
  const auto may = [&g](const message& m) {
    return !g.held || (m.kind != message_kind::pin_request && m.requester == g.holder);
  };
  if (const auto next = std::find_if(g.queue.begin(), g.queue.end(), may); next != g.queue.end()) {
    const message m = *next;
    g.queue.erase(next);
    switch (m.kind) {
      case message_kind::pin_request:
        give_pin(m, s, g, out);
        break;
      case message_kind::copy_request:
        homes_.reply_with_copy(m, s, out);
        break;
      default:
        homes_.operate_for(m, s, out);
        break;
    }
  }
  if (!g.held && g.queue.empty()) {
    grants_.drop(unit, s);
  } else if (std::any_of(g.queue.begin(), g.queue.end(), may)) {
    message m;
    m.kind = message_kind::pin_next;
    m.unit = unit;
    m.requester = table_.shape.self;
    table_.send(table_.shape.self, m, false, out);
  }
}

void page_locks::on_pin_next(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  if (s.granted != 0) serve_next(m.unit, s, out);
}

void page_locks::on_pin_end(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  if (table_.passes_on(m, s, out)) return;
  grants::grant* const g = grants_.find(m.unit);
  if (g == nullptr || !g->held || g->holder != m.requester) return;
  g->held = false;
  serve_next(m.unit, s, out);
}

node_id page_locks::holder_of(std::uint64_t unit) const noexcept {
  const grants::grant* const g = grants_.find(unit);
  return g != nullptr && g->held ? g->holder : table_.shape.self;
}

}  // namespace quire::release
