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
void unhurried::hurry(node_id but, const diff_groups& groups) {
  std::erase_if(nodes_, [&](node_id n) {
    if (n == but) return false;
    if (groups.any_to(n)) call(n, true);
    return true;
  });
}

/// Has a node look at all that came before. `back`: it does the same.
void unhurried::call(node_id to, bool back) {
  message m;
  m.kind = message_kind::notices;
  m.from = m.requester = state_.self;
  m.a = back ? 1 : 0;
  state_.effects.transmit(to, m, {});
}

}  // namespace quire::release
