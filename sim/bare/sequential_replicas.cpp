// SPDX-License-Identifier: BSD-3-Clause
// Content on two nodes: rounds, what waits for their end, and what must have survived a death. The engine does the same
// around protocol/sequential/replicas.cpp.
#include <algorithm>

#include "sim/bare/sequential_checkers.hpp"
#include "sim/bare/sequential_cluster.hpp"

namespace quire::sim {

using model::message_kind;

/// Rounds begin and end by themselves as far as they can; while the node recovers, only to copy what has lost its
/// backup.
void cluster::replicate(node_id node) {
  if (!options_.replicas) return;
  auto& recovery = state_.recoveries[node.value()];
  if (recovery.active() && !recovery.copying()) return;
  auto& rounds = state_.rounds[node.value()];
  sequential::advance(
      rounds, [&](auto&& f) { f(machines_[node.value()].rounds()); },
      [&](sequential::saving_rounds&, std::uint64_t unit, auto&& step) {
        model::actions out;
        step(out);
        finish_step(node, unit, nullptr, out);
      },
      [&] { open_gate(node); });
  if (!recovery.copying() || rounds.active || rounds.unsaved != 0) return;
  recovery.on_copied();
  send_markers(node, watch::recovery::round::copied);
}

/// True if the message has to wait: it would let another node know what this one has done.
bool cluster::hold_back(node_id from, node_id to, const message& m) {
  const bool tells = m.kind == message_kind::atomic_request || m.kind == message_kind::atomic_reply;
  if (!options_.replicas || !tells) return false;
  auto& rounds = state_.rounds[from.value()];
  const std::uint64_t ticket = rounds.ticket();
  if (ticket <= rounds.ended) return false;
  state_.gates[from.value()].push_back({ticket, to, m});
  return true;
}

/// A thread releases: it goes on when all that its node has written is safe.
void cluster::release(std::size_t t) {
  thread& self = state_.threads[t];
  self.now = thread::state::waits_for_call;
  const node_id node = node_of(t);
  state_.knows.ask(node.value(), t);
  auto& rounds = state_.rounds[node.value()];
  message m;
  m.token = t + 1;
  state_.gates[node.value()].push_back({rounds.ticket(), node, m});
  open_gate(node);
  replicate(node);
}

void cluster::open_gate(node_id node) {
  auto& gate = state_.gates[node.value()];
  while (!gate.empty() && gate.front().ticket <= state_.rounds[node.value()].ended) {
    const gated next = gate.front();
    gate.erase(gate.begin());
    if (next.m.kind != message_kind::invalid) {
      driver_.send(node, next.to, next.m, {});
      continue;
    }
    state_.knows.synchronised(next.m.token - 1);
    complete(next.m);
  }
}

/// Others are going to ask again, unless the answer comes before they know of the death. Requests are made again.
void cluster::cut_gate(node_id node) {
  for (const gated& one : state_.gates[node.value()]) {
    if (one.m.kind == message_kind::atomic_reply) driver_.send(node, one.to, one.m, {});
  }
  std::erase_if(state_.gates[node.value()], [](const gated& one) { return one.m.kind != message_kind::invalid; });
}

/// The first survivor goes on: what there is now of each unit is what it is. All that was acknowledged must be there.
void cluster::reconcile(node_id first) {
  const std::uint64_t dead = state_.recoveries[first.value()].dead();  // others may be dead without anybody knowing it
  if (!options_.replicas || (dead & ~state_.reconciled) == 0) return;
  const bool one_death =
      model::membership{.dead = state_.dead, .mended = state_.calm, .domains = domains()}.fresh() == 1;
  state_.reconciled = dead;
  const std::uint32_t last = options_.words - 1;
  for (std::uint32_t unit = 0; unit < options_.units; ++unit) {
    const node_id manager = machines_[first.value()].manager_of(unit);
    const auto& e = machines_[manager.value()].entry(unit);
    std::vector<std::uint64_t> now(options_.words, 0);
    for (std::uint16_t n = 0; n < options_.nodes; ++n) {
      if ((dead >> n & 1) != 0 || machines_[n].right_of(unit) == access::none) continue;
      const auto there = content(node_id{n}, unit);
      now.assign(there.begin(), there.end());
    }
    const bool lost = e.touched == sequential::directory_entry::lost;
    if (lost && one_death)
      fail("a unit is lost, though one node died, or one host (unit " + std::to_string(unit) + ")");
    if (!lost && now[last] < state_.knows.acknowledged(unit)) {
      fail("an acknowledged write is lost (unit " + std::to_string(unit) + ": " + std::to_string(now[last]) + " of " +
           std::to_string(state_.knows.acknowledged(unit)) + ")");
    }
    std::ranges::copy(now, &latest(unit, 0));
    state_.knows.roll_back(unit, now[last]);
  }
}

}  // namespace quire::sim
