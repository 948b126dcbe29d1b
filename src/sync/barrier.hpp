// SPDX-License-Identifier: BSD-3-Clause
// Barriers for a given number of threads of whichever nodes, counted at their home. Threads of one node are alike to
// it: the home counts arrivals by node, and a release says how many threads of a node may go on; that node lets those
// go that have waited longest. So a thread that is already back for the next round is never mistaken for one of the
// last, and the order of messages does not matter. (The barrier of the whole job is a collective.)
#pragma once

#include <vector>

#include "base/fault_heap.hpp"
#include "sync/context.hpp"
#include "sync/object_table.hpp"
#include "sync/saved.hpp"

namespace quire::sync {

class barrier_part {
 public:
  explicit barrier_part(context& c) : shared_(c) {}
  [[nodiscard]] object_id create(std::uint32_t participants);

  // Node side.
  void on_wait(const call& c, actions& out);
  void on_release(const message& m, actions& out);
  /// All waiting calls of the node have ended.
  void forget_waiting() noexcept;

  // Home side.
  void on_arrive(const message& m, actions& out);
  void on_request(const message& m, actions& out);

  /// Nodes have died. Threads here that wait at a barrier which only a dead node kept end with QUIRE_LOST.
  void cut(model::membership now_dead, actions& out);

  /// f(barrier, node, number, participants) for each node of which `number` threads have come to a barrier that this
  /// node keeps.
  template <class F>
  void for_each_arrival(F&& f) const {
    for (const auto& [id, e] : home_) {
      for (const node_id node : e.nodes) f(id, node, e.by_node[node.value()], e.participants);
    }
  }
  [[nodiscard]] bool is_valid() const noexcept;
  /// For checkpoints: those whose home is here; and to have one again, with nobody waiting.
  void save(std::vector<saved_object>& to) const;
  void load(object_id id, std::uint64_t participants);

 private:
  struct entry {
    std::uint32_t participants = 0;
    std::uint32_t arrived = 0;
    bool met = false;             ///< some round has been completed
    bool broken = false;          ///< a node has died, and nobody knows how many of its threads were to come
    std::uint64_t strangers = 0;  ///< nodes that were gone, or not there, when it was made; a bit each
    base::fault_vector<std::uint32_t> by_node;  ///< arrivals of this round
    base::fault_vector<std::uint32_t> before;   ///< and of the last one that was completed
    base::fault_vector<node_id> nodes;          ///< those with any
  };
  void release(node_id to, object_id id, std::uint64_t threads, quire_status status, actions& out) const;
  void shrink(entry& e, node_id dead);
  void release_all(object_id id, entry& e, quire_status status, actions& out);

  context& shared_;
  object_table<call_list> waiting_;
  object_table<entry> home_;
};

}  // namespace quire::sync
