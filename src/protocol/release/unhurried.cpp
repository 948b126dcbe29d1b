// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/unhurried.hpp"

#include <algorithm>

namespace quire::release {

using model::message_kind;

/// Diffs went to `to` that need not be looked at before something else comes there.
void unhurried::note(node_id to) {
  if (std::ranges::find(nodes_, to) == nodes_.end()) nodes_.push_back(to);
}

/// A message waits for diffs to other nodes than `but`. Those that were in no hurry are to be looked at. Their
/// acknowledgements are in no hurry either: an answer comes behind them.
void unhurried::hurry_on(node_id but, const diff_groups& groups) {
  const auto other = std::ranges::find_if(nodes_, [but](node_id n) { return n != but; });
  if (other == nodes_.end()) return state_.agenda.pop();
  const node_id n = *other;
  nodes_.erase(other);
  if (groups.any_to(n)) call(n, true);
}

void unhurried::call_on(node_id to) {
  state_.agenda.pop();
  call(to, false);
}

/// Has a node look at all that came before. `back`: it does the same.
void unhurried::call(node_id to, bool back) {
  message m;
  m.kind = message_kind::notices;
  m.from = m.requester = state_.self;
  m.a = back ? 1 : 0;
  state_.transmit(to, m, {});
}

}  // namespace quire::release
