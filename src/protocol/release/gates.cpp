// SPDX-License-Identifier: BSD-3-Clause
// The two gates of a node. Before one, messages that synchronise threads wait to leave, for diffs of this node; before the other, those that have come
// wait to be heard, for diffs of their sender that this node has passed on to where the home moved.
#include <algorithm>
#include <utility>

#include "protocol/release/node.hpp"

namespace quire::release {

using model::message_kind;

node::held_message& node::hold(base::fault_vector<held_message>& gate, const message& m, std::span<const std::byte> value) {
  CHECK(value.size() <= max_value_bytes);
  held_message& held = gate.emplace_back();
  held.m = m;
  held.bytes = value.size();
  std::copy(value.begin(), value.end(), held.value.begin());
  return held;
}

// ---- Out ----

unsigned node::diff_sent(node_id to) {
  ++open_.unacknowledged[to.value()];
  ++own_;
  if (is_unhurried(to)) note_unhurried(to);
  return groups_.sent(to);
}

void node::on_acknowledged(node_id to, std::uint32_t count, unsigned group) {
  CHECK(count <= own_ && count <= open_.unacknowledged[to.value()]);
  open_.unacknowledged[to.value()] -= count;
  own_ -= count;
  groups_.arrived(to, count, group);
  open_gate();
}

/// What waits leaves, oldest first, as soon as it may. If anything is left that waits, it is for the present group, which is the one before
/// from now on. Not while a message leaves: what that makes this node do before comes here, too, and would let younger ones out.
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
  }
}

/// Intervals whose diffs left in the groups up to this one join the history.
void node::add_up_to(std::uint64_t group) {
  if (group >= groups_.present()) {
    leaving_.insert(leaving_.end(), closed_.begin(), closed_.end());
    closed_.clear();
  }
  if (group + 1 >= groups_.present()) add_interval();
}

/// A message to this node itself tells nothing. What it makes this node send to others waits in its place.
void node::send(node_id to, const message& m, std::span<const std::byte> value, edge what) {
  if (what == edge::releases) to == self_ ? release() : release_ahead(to);
  const bool ends = what == edge::releases || what == edge::joins;
  if (to == self_) {
    if (ends) owed_last_ = last_closed();
    return effects_.transmit(to, m, value);
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
  hurry(to);
  open_gate();
}

/// The last group with diffs or intervals of releases that have begun.
std::uint64_t node::last_closed() const noexcept { return closed_.empty() ? groups_.last_used() : groups_.present(); }

/// The last group of diffs that a message to `to` must not overtake: those of its own releases (I3), and those that the notices tell of which go
/// before it (I4).
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
      ++count_.told_early;
    }
    tell(to);
  }
  effects_.transmit(to, m, value);
  in_gate_ = false;
}

/// Diffs went to `to` that need not be looked at before something else comes there.
void node::note_unhurried(node_id to) {
  if (std::ranges::find(unhurried_, to) == unhurried_.end()) unhurried_.push_back(to);
}

/// A message waits for diffs to other nodes than `but`. Those that were in no hurry are to be looked at. Their acknowledgements are in no hurry
/// either: an answer comes behind them.
void node::hurry(node_id but) {
  std::erase_if(unhurried_, [&](node_id n) {
    if (n == but) return false;
    if (groups_.any_to(n)) call(n, true);
    return true;
  });
}

/// Has a node look at all that came before. `back`: it does the same.
void node::call(node_id to, bool back) {
  message m;
  m.kind = message_kind::notices;
  m.from = m.requester = self_;
  m.a = back ? 1 : 0;
  effects_.transmit(to, m, {});
}

// ---- In ----

unsigned node::diff_passed(node_id from) { return passed_.sent(from); }

void node::on_passed(node_id from, std::uint32_t count, unsigned group) {
  CHECK(count <= open_.passing);
  open_.passing -= count;
  passed_.arrived(from, count, group);
  hear();
}

/// Whoever sent it knew that the diffs before it were on their way to this node, which has sent them on: its threads may go on when they have
/// arrived (I4). Nothing else that the sender sends waits with it, diffs and their acknowledgements least of all: no two nodes wait for each other.
bool node::keeps_back(const message& m, std::span<const std::byte> value) {
  if (m.kind == message_kind::notices && value.empty()) return false;  // a call
  const std::uint64_t after = passed_.last_used();
  const bool others = std::ranges::any_of(unheard_, [&m](const held_message& h) { return h.m.from == m.from; });
  if (!others && passed_.settled_of(m.from, after)) return false;
  hold(unheard_, m, value).after = after;
  if (passed_.may_turn()) passed_.turn();
  ++count_.kept_back;
  return true;
}

/// What was kept back is heard, of each node in the order in which it came.
void node::hear() {
  if (passed_.may_turn() && !unheard_.empty()) passed_.turn();
  if (std::exchange(hearing_, true)) return;
  const auto may = [this](const held_message& h) { return passed_.settled_of(h.m.from, h.after); };
  for (auto at = unheard_.begin(); (at = std::find_if(unheard_.begin(), unheard_.end(), may)) != unheard_.end();) {
    const held_message next = *at;
    unheard_.erase(at);
    effects_.hear(next.m, std::span(next.value).first(next.bytes));
  }
  hearing_ = false;
}

}  // namespace quire::release
