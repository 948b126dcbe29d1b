// SPDX-License-Identifier: BSD-3-Clause
// Nodes that die, and the others that go on: what the engine would do around loss.cpp of the protocol and
// src/watch/recovery.
#include <algorithm>
#include <cstring>

#include "sim/bare/sequential_checkers.hpp"
#include "sim/bare/sequential_cluster.hpp"

namespace quire::sim {

using model::message_kind;
using watch::recovery;

bool cluster::is_settled() const noexcept {
  for (std::uint16_t n = 0; options_.survives && n < options_.nodes; ++n) {
    if (!is_dead(node_id{n}) && (is_frozen(node_id{n}) || !knows_all(node_id{n}))) return false;
  }
  return true;
}

void cluster::kill(node_id node, std::uint64_t concerned) {
  for (std::uint32_t unit = 0; unit < options_.units; ++unit) {
    const auto& m = machines_[node.value()];
    // Its own requests may be under way at others; what it manages may have been promised to others.
    const bool had_to_do = m.right_of(unit) != access::none || m.unit(unit).pending() != access::none ||
                           m.manager_of(unit) == node || (concerned >> unit & 1) != 0;
    bool queued = false;
    for (std::size_t n = 0; n < options_.nodes; ++n) {
      auto list = state_.entries[n * options_.units + unit].requests;
      for (auto pool = state_.requests[n]; !list.empty(); pool.pop(list)) queued |= pool.front(list).requester == node;
    }
    if (had_to_do || queued) state_.touched_by_dead |= std::uint64_t{1} << unit;
    state_.views[unit * options_.nodes + node.value()] = access::none;
    state_.pinned[unit] -= pins_of(node, unit);
  }
  for (const std::size_t t : threads_of(node)) {
    state_.threads[t] = {};
    state_.threads[t].now = thread::state::finished;
  }
  state_.dead |= std::uint64_t{1} << node.value();
}

void cluster::tell(node_id node) { recover(node, state_.recoveries[node.value()].on_deaths(state_.dead)); }

/// True if the message was dealt with: it comes from the dead, is a marker, or was sent before its sender knew.
bool cluster::take_recovery(node_id to, const message& m, std::span<const std::byte> payload) {
  recovery& r = state_.recoveries[to.value()];
  if ((r.dead() >> m.from.value() & 1) != 0) return true;
  if (m.kind == message_kind::recovery) {
    recover(to, r.on_marker(m.from.value(), static_cast<recovery::round>(m.operation), {m.a, m.b, m.c, m.unit}));
    return true;
  }
  if (!r.is_old(m.from.value())) return false;
  const bool content =
      m.kind == message_kind::read_reply || m.kind == message_kind::write_reply || m.kind == message_kind::replica;
  if (content && !payload.empty()) std::memcpy(frame(to, m.unit).data(), payload.data(), payload.size());
  model::actions out;
  machines_[to.value()].losses().absorb(m, out);
  finish_step(to, m.unit, &m, out);
  return true;
}

template <class F>
void cluster::all_units(node_id node, F f) {
  for (std::uint32_t unit = 0; unit < options_.units; ++unit) {
    model::actions out;
    f(machines_[node.value()], unit, out);
    finish_step(node, unit, nullptr, out);
  }
}

void cluster::recover(node_id node, recovery::step s) {
  if (s.begin) {
    state_.members[node.value()].learn(state_.recoveries[node.value()].dead());
    if (options_.replicas) cut_gate(node);
    all_units(node, [](sequential::machine& m, std::uint64_t unit, model::actions& out) { m.losses().cut(unit, out); });
    send_markers(node, recovery::round::cut);
  }
  if (s.report) {
    all_units(node,
              [](sequential::machine& m, std::uint64_t unit, model::actions& out) { m.losses().report(unit, out); });
    send_markers(node, recovery::round::reports);
  }
  if (s.settle) {
    all_units(node,
              [](sequential::machine& m, std::uint64_t unit, model::actions& out) { m.losses().settle(unit, out); });
    send_markers(node, recovery::round::settled);
  }
  if (s.copy) {
    all_units(node,
              [](sequential::machine& m, std::uint64_t unit, model::actions& out) { m.losses().mend(unit, out); });
    replicate(node);
  }
  if (!s.go_on) return;
  state_.members[node.value()].mend();
  reconcile(node);
  if (is_settled()) state_.calm = state_.dead;
  for (const std::size_t t : threads_of(node)) {
    thread& caller = state_.threads[t];
    if (caller.now != thread::state::waits_for_call || operation_of(t).what == operation_kind::release) continue;
    // Nobody can tell whether a dead manager's node has done the operation; else it has not been done, or is lost with
    // the unit.
    const auto first = machines_[node.value()].shape().managers.of(operation_of(t).unit);
    const bool unknown = is_dead(first) || (options_.replicas && operation_of(t).what != operation_kind::push);
    if (unknown) {
      finish_operation(t);
    } else {
      caller.now = thread::state::ready;
    }
  }
  replicate(node);  // others may have gone on before, and asked
}

void cluster::send_markers(node_id node, recovery::round r) {
  message m;
  m.kind = message_kind::recovery;
  m.operation = static_cast<std::uint32_t>(r);
  m.a = state_.recoveries[node.value()].dead();
  m.unit = state_.recoveries[node.value()].members();
  for (std::uint16_t n = 0; n < options_.nodes; ++n) {
    if ((m.a >> n & 1) == 0 && !is_dead(node_id{n})) driver_.send(node, node_id{n}, m, {});
  }
}

/// The thread gets its signal, or its status, and goes on.
void cluster::finish_lost(std::size_t t) {
  const std::uint32_t unit = operation_of(t).unit;
  fail(check_lost(*this, unit));
  finish_operation(t);
}

}  // namespace quire::sim
