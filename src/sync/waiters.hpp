// SPDX-License-Identifier: BSD-3-Clause
// Queues at an object's home: which node's call waits, first come first served. All queues of a node share one pool,
// whose memory is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/membership.hpp"
#include "sync/call_table.hpp"

namespace quire::sync {

struct waiter {
  node_id node{};
  bool exclusive = false;  ///< rwlock: wants to write. mutex: wants it only if it is free
  ticket who{};            ///< none in a mutex's queue: there the whole node waits
};

struct waiter_queue {
  std::uint32_t head = call_list::nobody, tail = call_list::nobody;
  [[nodiscard]] bool empty() const noexcept { return head == call_list::nobody; }
};

class waiter_pool {
 public:
  void push(waiter_queue& q, const waiter& w) {
    std::uint32_t index = free_;
    if (index == call_list::nobody) {
      index = static_cast<std::uint32_t>(cells_.size());
      cells_.push_back({w, call_list::nobody});
    } else {
      free_ = cells_[index].next;
      cells_[index] = {w, call_list::nobody};
    }
    (q.empty() ? q.head : cells_[q.tail].next) = index;
    q.tail = index;
  }
  [[nodiscard]] const waiter& front(const waiter_queue& q) const noexcept {
    CHECK(!q.empty());
    return cells_[q.head].what;
  }
  waiter pop(waiter_queue& q) noexcept {
    CHECK(!q.empty());
    return take(q, call_list::nobody, q.head);
  }
  /// Takes the call `who` of `node` out of the queue. False if it is not there.
  bool remove(waiter_queue& q, node_id node, ticket who) noexcept {
    for (std::uint32_t before = call_list::nobody, i = q.head; i != call_list::nobody; before = i, i = cells_[i].next) {
      if (cells_[i].what.node != node || cells_[i].what.who != who) continue;
      (void)take(q, before, i);
      return true;
    }
    return false;
  }
  /// Takes out the calls of nodes that are dead.
  void remove_dead(waiter_queue& q, model::membership members) noexcept {
    for (std::uint32_t before = call_list::nobody, i = q.head; i != call_list::nobody;) {
      const std::uint32_t next = cells_[i].next;
      if (members.is_dead(cells_[i].what.node)) {
        (void)take(q, before, i);
      } else {
        before = i;
      }
      i = next;
    }
  }

 private:
  struct cell {
    waiter what{};
    std::uint32_t next = call_list::nobody;
  };
  waiter take(waiter_queue& q, std::uint32_t before, std::uint32_t index) noexcept {
    cell& c = cells_[index];
    (before == call_list::nobody ? q.head : cells_[before].next) = c.next;
    if (q.tail == index) q.tail = before;
    c.next = free_;
    free_ = index;
    return c.what;
  }
  base::fault_vector<cell> cells_;
  std::uint32_t free_ = call_list::nobody;
};

}  // namespace quire::sync
