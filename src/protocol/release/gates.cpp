// SPDX-License-Identifier: BSD-3-Clause
// The gate of a node before which messages that synchronise threads wait to leave, for diffs of this node. arrivals.hpp
// has the other one.
#include <algorithm>
#include <span>
#include <utility>

#include "protocol/release/node.hpp"

namespace quire::release {

unsigned node::diff_sent(node_id to, bool unhurried) {
  ++state_.open.unacknowledged[to.value()];
  ++own_;
  if (unhurried) unhurried_.note(to);
  return groups_.sent(to);
}

void node::on_acknowledged(node_id to, std::uint32_t count, unsigned group) {
  CHECK(count <= own_ && count <= state_.open.unacknowledged[to.value()]);
  state_.open.unacknowledged[to.value()] -= count;
  own_ -= count;
  groups_.arrived(to, count, group);
  open_gate();
}

/// Not while a message leaves: what that makes this node do before comes here, too, and would let younger ones out.
void node::open_gate() {
  if (!leaves_one()) state_.agenda.push(task::kind::open_gate);
}

/// What waits leaves, oldest first, as soon as it may. If anything is left that waits, it is for the present group,
/// which is the one before from now on.
void node::open_gate_on(task& t) {
  enum : std::uint8_t { adding, letting_out };
  if (t.step == adding) {
    t.step = letting_out;
    if (groups_.may_turn()) begin_interval();
    return;
  }
  t.step = adding;
  if (waiting() != 0 && may_leave(gate_[left_].to, gate_[left_].what, gate_[left_].after)) {
    const held_message& next = gate_[left_++];
    begin_leave(next.to, next.m, std::span(next.value).first(next.bytes), next.what, next.after);
    if (waiting() == 0) {
      gate_.clear();
      left_ = 0;
    }
    return;
  }
  if (!groups_.may_turn() || (waiting() == 0 && closed_.empty())) return state_.agenda.pop();
  groups_.turn();
  std::swap(leaving_, closed_);
  leaving_releases_ = releases_;
}

/// Intervals whose diffs left in the groups up to this one join the history.
void node::add_up_to(std::uint64_t group) {
  if (group >= groups_.present()) {
    leaving_.insert(leaving_.end(), closed_.begin(), closed_.end());
    closed_.clear();
    leaving_releases_ = releases_;
  }
  if (group + 1 >= groups_.present()) begin_interval();
}

void node::send(node_id to, const message& m, std::span<const std::byte> value, edge what) {
  task& t = state_.agenda.push(task::kind::send);
  t.to = to;
  t.m = m;
  t.value = value;
  t.edge = what;
}

/// A message to this node itself tells nothing. What it makes this node send to others waits in its place.
void node::send_on(task& t) {
  enum : std::uint8_t { releasing, sending, sent };
  if (t.step == releasing) {
    t.step = sending;
    return t.edge == edge::releases ? begin_release(t.to, false) : void();
  }
  if (t.step == sent) {
    state_.agenda.pop();
    return waiting() != 0 ? open_gate() : void();
  }
  const bool ends = t.edge == edge::releases || t.edge == edge::joins;
  if (t.to == state_.self) {
    if (ends) owed_last_ = last_closed();
    state_.transmit(t.to, t.m, t.value);
    return state_.agenda.pop();
  }
  // A message that releases nothing may not overtake one that waits, and need not wait for what threads here write.
  const std::uint64_t after = ends ? last_closed() : 0;
  if (waiting() == 0 && !leaves_one() && may_leave(t.to, t.edge, after)) {
    t.step = sent;
    return begin_leave(t.to, t.m, t.value, t.edge, after);
  }
  held_message& held = hold(gate_, t.m, t.value);
  held.after = after;
  held.what = t.edge;
  const node_id to = held.to = t.to;
  state_.agenda.pop();
  open_gate();
  unhurried_.begin_hurry(to);  // first
}

/// The last group with diffs or intervals of releases that have begun.
std::uint64_t node::last_closed() const noexcept { return closed_.empty() ? groups_.last_used() : groups_.present(); }

/// The last group of diffs that a message to `to` must not overtake: those of its own releases (I3), and those that the
/// notices tell of which go before it (I4).
std::uint64_t node::last_awaited(node_id to, edge what, std::uint64_t after) const noexcept {
  if (what == edge::none) return 0;
  const std::uint64_t told = told_early_.to == to ? 0 : told_early_.last;
  return std::max({after, told, owed_last_});
}

bool node::may_leave(node_id to, edge what, std::uint64_t after) const noexcept {
  return groups_.lead_only_to(to, last_awaited(to, what, after));
}

/// One at a time.
void node::begin_leave(node_id to, const message& m, std::span<const std::byte> value, edge what, std::uint64_t after) {
  CHECK(!leaves_one() && value.size() <= max_value_bytes);
  outgoing_.to = to;
  outgoing_.m = m;
  outgoing_.bytes = value.size();
  std::copy(value.begin(), value.end(), outgoing_.value.begin());
  outgoing_.what = what;
  outgoing_.after = after;
  state_.agenda.push(task::kind::leave);
}

void node::leave_on(task& t) {
  enum : std::uint8_t { adding, telling, leaving, left };
  const held_message& out = outgoing_;
  switch (t.step) {
    case adding:
      if (out.what == edge::none) {
        t.step = leaving;
        return;
      }
      t.step = telling;
      t.end = last_awaited(out.to, out.what, out.after);
      return add_up_to(t.end);
    case telling:
      t.step = leaving;
      if (t.end > groups_.settled()) {
        told_early_ = {out.to, std::max(t.end, told_early_.last)};
        ++state_.count.told_early;
      }
      return tell(out.to);
    case leaving:
      t.step = left;
      return state_.transmit(out.to, out.m, std::span(out.value).first(out.bytes));
    case left:
      return state_.agenda.pop();
    default:
      CHECK(!"a step of a message that leaves");
  }
}

}  // namespace quire::release
