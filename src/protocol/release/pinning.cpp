// SPDX-License-Identifier: BSD-3-Clause
// Page locking under release consistency (KOAN: acquire and release; the next holder sees what was written under the pin, as in
// entry consistency: Bershad, Zekauskas and Sawdon, "The Midway Distributed Shared Memory System", 1993). The home of a unit keeps its
// pin, like a lock, and sends the content along with it. From then to its end, what other nodes ask of the unit (pins,
// copies, atomic operations) waits at the home, first come first served; what the holder's own node asks is served. Copies that
// nodes have go on being used, the home's too: under release consistency that is no business of the holder's.
//
// Ending a pin releases, and getting it acquires, all memory: `pin_end` leaves when all diffs before it are at their homes, or
// on their way to its receiver, and behind their notices. The home tells all that it knows before `pin_grant` (node.hpp). The home does not move meanwhile.
#include <algorithm>

#include "protocol/release/node.hpp"

namespace quire::release {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

// ---- The node whose threads pin

fault_outcome machine::on_pin(std::uint64_t unit, actions& out) {
  CHECK(unit < shape_.units);
  if (open_.pins == nullptr || !open_.pins->add(shape_.region, unit)) return fault_outcome::refused;
  ++count_.pins;
  return on_pin_again(unit, out);
}

fault_outcome machine::on_pin_again(std::uint64_t unit, actions& out) {
  unit_state& s = touch(unit);
  if (s.pinned != 0) {
    if (s.is_home == 0 && s.valid == 0) return on_fault(unit, access::write, out);
    allow(unit, s, access::write, out);
    return fault_outcome::local;
  }
  if (s.pin_asked != 0) return fault_outcome::joined;
  message m;
  m.kind = message_kind::pin_request;
  m.region = shape_.region;
  m.unit = unit;
  m.requester = shape_.self;
  if (s.is_home != 0 && s.granted == 0) {
    grant& g = make_grant(unit, s);
    g.held = true;
    g.holder = shape_.self;
    s.pinned = s.assigned = 1;
    allow(unit, s, access::write, out);
    return fault_outcome::local;
  }
  s.pin_asked = 1;
  ++outstanding_;
  if (s.is_home != 0) {
    put_off(m);
  } else {
    // One way at a time: where content is on its way already, or here, it need not come with the pin.
    s.pin_data = s.valid == 0 && s.asked == 0 ? 1 : 0;
    if (s.pin_data == 0) m.flags |= message_flag::no_data;
    send_home(m, out);
  }
  return fault_outcome::started;
}

bool machine::on_unpin(std::uint64_t unit, actions& out) {
  if (unit >= shape_.units || units_[unit].pinned == 0) return false;
  unpin(unit, 1, out);
  return true;
}

void machine::on_pin_given_up(std::uint64_t unit, actions& out) { unpin(unit, 1, out); }

void machine::on_pins_dropped(std::uint64_t unit, actions& out) {
  const directory::pin* const p = open_.pins->find(shape_.region, unit);
  if (p != nullptr) unpin(unit, p->count, out);
}

void machine::unpin(std::uint64_t unit, std::uint32_t times, actions& out) {
  directory::pin* const p = open_.pins->find(shape_.region, unit);
  CHECK(p != nullptr && p->count >= times);
  if (p->count > times) {
    p->count -= times;
    return;
  }
  open_.pins->remove(shape_.region, unit);
  unit_state& s = units_[unit];
  if (s.pinned != 0) end_pin(unit, s, out);
}

void machine::end_pin(std::uint64_t unit, unit_state& s, actions& out) {
  s.pinned = 0;
  if (s.is_home != 0) {
    s.pin_ended = 1;
    find_grant(unit)->held = false;
    return serve_next(unit, s, out);
  }
  message m;
  m.kind = message_kind::pin_end;
  m.unit = unit;
  m.requester = shape_.self;
  send_home(m, out);
}

void machine::on_pin_grant(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  if (s.pin_asked == 0 || s.is_home != 0) return;
  s.pin_asked = 0;
  --outstanding_;
  const bool wanted = open_.pins->find(shape_.region, m.unit) != nullptr;
  if (wanted) s.pinned = 1;
  bool again = false;
  if (s.pin_data != 0) {
    s.pin_data = 0;
    believe(s, m.from, static_cast<std::uint16_t>(m.a));  // no diff of this node is on the old way: it had no copy
    if ((m.flags & message_flag::zero) == 0) s.written = 1;
    again = s.stale != 0;
    s.stale = 0;
    if (again) ++count_.stale_replies;
    s.valid = again ? 0 : 1;
    s.version = no_version;
    if (!again && s.pending() != access::none) arrived(m.unit, s, out);
  }
  if (again && s.pending() != access::none) ask(m.unit, s, s.pending(), out);
  if (!wanted) {  // who wanted it has given up
    s.pinned = 1;
    return end_pin(m.unit, s, out);
  }
  if (s.valid != 0) {
    allow(m.unit, s, access::write, out);
    out.add(action_kind::wake, m.unit);
  } else if (s.pending() == access::none) {
    ask(m.unit, s, access::write, out);
  }
}

// ---- The home

node_id machine::holder_of(std::uint64_t unit) const noexcept {
  const grant* const g = find_grant(unit);
  return g != nullptr && g->held ? g->holder : shape_.self;
}

const machine::grant* machine::find_grant(std::uint64_t unit) const noexcept {
  const auto at = std::lower_bound(grants_.begin(), grants_.end(), unit, [](const grant& g, std::uint64_t u) { return g.unit < u; });
  return at != grants_.end() && at->unit == unit ? &*at : nullptr;
}

machine::grant& machine::make_grant(std::uint64_t unit, unit_state& s) {
  s.granted = 1;
  const auto at = std::lower_bound(grants_.begin(), grants_.end(), unit, [](const grant& g, std::uint64_t u) { return g.unit < u; });
  grant& made = *grants_.emplace(at);
  made.unit = unit;
  return made;
}

void machine::drop_grant(std::uint64_t unit, unit_state& s) {
  s.granted = 0;
  grants_.erase(grants_.begin() + (find_grant(unit) - grants_.data()));
}

bool machine::must_wait(std::uint64_t unit, const unit_state& s, node_id who) const {
  if (s.granted == 0) return false;
  const grant& g = *find_grant(unit);
  return !g.held || g.holder != who;  // none has it: those in the queue were here before
}

void machine::put_off(const message& m) {
  ++count_.pin_waits;
  find_grant(m.unit)->queue.push_back(m);
}

void machine::on_pin_request(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  if (passes_on(m, s, out)) return;
  if (m.requester == shape_.self && s.pin_asked == 0) return;
  if (s.granted != 0) return put_off(m);
  give_pin(m, s, make_grant(m.unit, s), out);
  serve_next(m.unit, s, out);
}

void machine::give_pin(const message& m, unit_state& s, grant& g, actions& out) {
  s.assigned = 1;
  if (m.requester == shape_.self) {
    s.pin_asked = 0;
    --outstanding_;
    if (open_.pins->find(shape_.region, m.unit) == nullptr) return;  // who wanted it has given up
    g.held = true;
    g.holder = shape_.self;
    s.pinned = 1;
    allow(m.unit, s, access::write, out);
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
  r.a = s.moves;
  r.b = s.pin_ended;
  s.pin_ended = 0;
  send(m.requester, r, false, out);
}

/// The content leaves now, behind a release of this node perhaps: a copy like any other.
void machine::on_grant_leaves(std::uint64_t unit, actions& out) {
  unit_state& s = units_[unit];
  watch_writes(unit, s, out);
  s.shared = 1;
}

/// One request that need not wait any longer, if there is one; the others in steps of their own.
void machine::serve_next(std::uint64_t unit, unit_state& s, actions& out) {
  grant& g = *find_grant(unit);
  const auto may = [&g](const message& m) {
    return !g.held || (m.kind != message_kind::pin_request && m.requester == g.holder);
  };
  if (const auto next = std::find_if(g.queue.begin(), g.queue.end(), may); next != g.queue.end()) {
    const message m = *next;
    g.queue.erase(next);
    switch (m.kind) {
      case message_kind::pin_request: give_pin(m, s, g, out); break;
      case message_kind::copy_request: reply_with_copy(m, s, out); break;
      default: operate_for(m, s, out); break;
    }
  }
  if (!g.held && g.queue.empty()) {
    drop_grant(unit, s);
  } else if (std::any_of(g.queue.begin(), g.queue.end(), may)) {
    message m;
    m.kind = message_kind::pin_next;
    m.unit = unit;
    m.requester = shape_.self;
    send(shape_.self, m, false, out);
  }
}

void machine::on_pin_next(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  if (s.granted != 0) serve_next(m.unit, s, out);
}

void machine::on_pin_end(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  if (passes_on(m, s, out)) return;
  grant* const g = find_grant(m.unit);
  if (g == nullptr || !g->held || g->holder != m.requester) return;
  g->held = false;
  serve_next(m.unit, s, out);
}

// ---- What comes with a pin

void node::acquire_pin(node_id from, model::region_id region, std::uint64_t unit) {
  machine* const m = machine_of(region);
  bool covered = m != nullptr && m->grant_is_current(unit);
  for (history::position at = std::max(history_.applied(), history_.begin()); covered && at < history_.end(); ++at) {
    const notice& n = history_[at];
    const bool about = n.region == region && n.moves == 0 && n.writer != self_ && unit >= n.first && unit - n.first < n.count;
    if (about && history_.source(at) != from) covered = false;
  }
  acquire();
  if (covered) m->on_covered(unit);
}

}  // namespace quire::release
