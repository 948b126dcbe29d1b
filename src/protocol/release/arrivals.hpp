// SPDX-License-Identifier: BSD-3-Clause
// The gate of a node for messages that have come: they wait to be heard, for diffs of their sender that this node has
// passed on to where the home moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/fault_heap.hpp"
#include "protocol/release/diff_groups.hpp"
#include "protocol/release/held_message.hpp"
#include "protocol/release/node_state.hpp"

namespace quire::release {

class arrivals {
 public:
  arrivals(node_state& state, unsigned nodes) : state_(state), nodes_(nodes), passed_(nodes) {}
  /// A diff that `from` has sent is passed on. Returns its group.
  unsigned diff_passed(node_id from);
  /// `count` diffs that `from` had sent here, and this node has passed on, are in the home's content: a task hears what
  /// waited for them.
  void on_passed(node_id from, std::uint32_t count, unsigned group = diff_groups::any);
  bool keeps_back(const message& m, std::span<const std::byte> value);
  [[nodiscard]] std::size_t waiting() const noexcept { return unheard_.size(); }

  /// A node has died: no diff is passed on any more. What was kept back comes out by hear_one().
  void cut() { passed_ = diff_groups(nodes_); }
  /// False if nothing was left.
  bool hear_one();

  /// The task goes on: what was kept back is heard, of each node in the order in which it came.
  void hear_on();

 private:
  node_state& state_;
  unsigned nodes_;
  diff_groups passed_;                          ///< of other nodes
  base::fault_vector<held_message> unheard_{};  ///< messages kept back, oldest first
  held_message heard_{};                        ///< the one that is heard
};

}  // namespace quire::release
