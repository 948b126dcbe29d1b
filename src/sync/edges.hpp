// SPDX-License-Identifier: BSD-3-Clause
// Which messages of synchronisation order memory between nodes: those by which a thread releases, and those that may
// let a thread of the receiver acquire.
#pragma once

#include "model/edge.hpp"
#include "sync/call.hpp"
#include "sync/kinds.hpp"

namespace quire::sync {

using model::edge;

[[nodiscard]] constexpr edge edge_of_request(operation what) noexcept {
  switch (what) {
    case operation::rwlock_unlock:
    case operation::condition_notify_one:
    case operation::condition_notify_all:
    case operation::event_set:
    case operation::semaphore_release:
      return edge::releases;
    default:
      return edge::none;  // who waits, makes or destroys says nothing of what it wrote
  }
}

/// Of a message that this node is about to send.
[[nodiscard]] inline edge edge_of(const message& m) noexcept {
  switch (kind_of(m.kind)) {
    case kind::request:
      return edge_of_request(static_cast<operation>(m.operation));
    case kind::lock_grant:
    case kind::barrier_arrive:
      return edge::releases;
    case kind::gather:
      return edge::joins;
    // The root's own contribution leaves with the result.
    case kind::spread:
      return (m.c & round_bit::root) != 0 ? edge::joins : edge::carries;
    case kind::reply:
    case kind::barrier_release:
      return edge::carries;
    default:
      return edge::none;
  }
}

/// Calls in which the threads of a group, or one of each node, meet: the last one of a node releases when it calls, so
/// that what the node wrote leaves while the others are waited for.
[[nodiscard]] constexpr bool is_collective(const call& c) noexcept {
  return c.what >= operation::group_wait || c.what == operation::reduce_f64 || c.what == operation::reduce_i64 ||
         c.what == operation::broadcast || c.what == operation::await_nodes ||
         (c.what == operation::barrier_wait && c.object == 0);
}

}  // namespace quire::sync
