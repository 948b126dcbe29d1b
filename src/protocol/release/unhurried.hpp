// SPDX-License-Identifier: BSD-3-Clause
// Diffs that nobody waits for alone: where they lie, and how their receivers are told to look at them after all.
#pragma once

#include "base/fault_heap.hpp"
#include "protocol/release/diff_groups.hpp"
#include "protocol/release/node_state.hpp"

namespace quire::release {

class unhurried {
 public:
  explicit unhurried(node_state& state) noexcept : state_(state) {}
  void note(node_id to);
  void forget() noexcept { nodes_.clear(); }
  /// A task: those that hold diffs back are called, but for `but`.
  void begin_hurry(node_id but) { state_.agenda.push(task::kind::hurry).to = but; }
  /// A task: `to`, which has called, is called back.
  void begin_call(node_id to) { state_.agenda.push(task::kind::call).to = to; }

  // The tasks go on.
  void hurry_on(node_id but, const diff_groups& groups);
  void call_on(node_id to);

 private:
  void call(node_id to, bool back);

  node_state& state_;
  base::fault_vector<node_id> nodes_{};  ///< that may leave diffs of this node lying for a while
};

}  // namespace quire::release
