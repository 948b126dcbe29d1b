// SPDX-License-Identifier: BSD-3-Clause
// The gate of a node before which messages that synchronise threads wait to leave, for diffs of this node. arrivals.hpp
// has the other one.
#include <algorithm>
#include <utility>

#include "protocol/release/node.hpp"

namespace quire::release {

unsigned node::diff_sent(node_id to) {
  ++state_.open.unacknowledged[to.value()];
  ++own_;
  if (is_unhurried(to)) unhurried_.note(to);
  return groups_.sent(to);
}

void node::on_acknowledged(node_id to, std::uint32_t count, unsigned group) {
  CHECK(count <= own_ && count <= state_.open.unacknowledged[to.value()]);
  state_.open.unacknowledged[to.value()] -= count;
  own_ -= count;
  groups_.arrived(to, count, group);
  open_gate();
}

/// What waits leaves, oldest first, as soon as it may. If anything is left that waits, it is for the present group,
/// which is the one before from now on. Not while a message leaves: what that makes this node do before comes here,
/// too, and would let younger ones out.
void node::open_gate() {
  while (!in_gate_) {
    if (groups_.may_turn()) add_interval();
    if (waiting() != 0 && may_leave(gate_[left_].to, gate_[left_].what, gate_[left_].after)) {
      const held_message next = gate_[left_++];
      if (waiting() == 0) {
        gate_.clear();
        left_ = 0;
      }
      leave(next.to, next.m, std::span(next.value).first(next.bytes), next.what, next.after);
      continue;
    }
    if (!groups_.may_turn() || (waiting() == 0 && closed_.empty())) return;
    groups_.turn();
    std::swap(leaving_, closed_);
    leaving_releases_ = releases_;
  }
}

/// Intervals whose diffs left in the groups up to this one join the history.
void node::add_up_to(std::uint64_t group) {
  if (group >= groups_.present()) {
    leaving_.insert(leaving_.end(), closed_.begin(), closed_.end());
    closed_.clear();
    leaving_releases_ = releases_;
  }
  if (group + 1 >= groups_.present()) add_interval();
}

/// A message to this node itself tells nothing. What it makes this node send to others waits in its place.
void node::send(node_id to, const message& m, std::span<const std::byte> value, edge what) {
  if (what == edge::releases) to == state_.self ? release() : release_ahead(to);
  const bool ends = what == edge::releases || what == edge::joins;
  if (to == state_.self) {
    if (ends) owed_last_ = last_closed();
    return state_.effects.transmit(to, m, value);
  }
  // A message that releases nothing may not overtake one that waits, and need not wait for what threads here write.
  const std::uint64_t after = ends ? last_closed() : 0;
  if (waiting() == 0 && !in_gate_ && may_leave(to, what, after)) {
    leave(to, m, value, what, after);
    if (waiting() != 0) open_gate();
    return;
  }
  held_message& held = hold(gate_, m, value);
  held.after = after;
  held.what = what;
  held.to = to;
  unhurried_.hurry(to, groups_);
  open_gate();
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

void node::leave(node_id to, const message& m, std::span<const std::byte> value, edge what, std::uint64_t after) {
  CHECK(!std::exchange(in_gate_, true));
  if (what != edge::none) {
    const std::uint64_t last = last_awaited(to, what, after);
    add_up_to(last);
    if (last > groups_.settled()) {
      told_early_ = {to, std::max(last, told_early_.last)};
      ++state_.count.told_early;
    }
    tell(to);
  }
  state_.effects.transmit(to, m, value);
  in_gate_ = false;
}

}  // namespace quire::release
