// SPDX-License-Identifier: BSD-3-Clause
// Reader-writer locks, kept at their home: first come first served, and readers that come together go together, so that
// neither kind starves the other. A node remembers which of its threads holds what.
#pragma once

#include <vector>

#include "base/fault_heap.hpp"
#include "sync/context.hpp"
#include "sync/object_table.hpp"
#include "sync/saved.hpp"

namespace quire::sync {

class rwlock_part {
 public:
  explicit rwlock_part(context& c) : shared_(c) {}
  [[nodiscard]] object_id create();

  // Node side.
  void on_lock(const call& c, actions& out);
  void on_unlock(const call& c, actions& out);
  void on_reply(ticket t, const waiting_call& w, quire_status status, actions& out);

  // Home side.
  void on_request(const message& m, actions& out);
  /// Takes a call out of the queue; false if it is not there.
  bool withdraw(const message& m, actions& out);
  /// Nodes have died: what they held is free. After a writer others hear of it.
  void cut(actions& out);

  /// f(lock, thread) for each that a thread of this node holds.
  template <class F>
  void for_each_held(F&& f) const {
    for (const held& h : held_) f(h.id, h.thread);
  }
  [[nodiscard]] bool is_valid() const noexcept;
  /// For checkpoints: those whose home is here; and to have one again, free.
  void save(std::vector<saved_object>& to) const;
  void load(object_id id);

 private:
  struct held {
    object_id id{};
    std::uint32_t thread = 0;
    bool writing = false;
  };
  struct entry {
    std::uint32_t readers = 0;
    bool writing = false;
    bool orphaned = false;                  ///< its writer is dead; all are told, up to the next writer
    node_id writer{};                       ///< while writing
    base::fault_vector<node_id> reading{};  ///< the node of each reader
    waiter_queue queue{};
  };
  [[nodiscard]] std::size_t find(object_id id, std::uint32_t thread) const noexcept;
  void on_lock_request(const message& m, entry& e, bool writing, actions& out);
  void on_release(const message& m, entry& e, actions& out);
  void serve(object_id id, entry& e, actions& out);

  context& shared_;
  base::fault_vector<held> held_;  ///< by threads of this node
  object_table<entry> home_;
};

}  // namespace quire::sync
