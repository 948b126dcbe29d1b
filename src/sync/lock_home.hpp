// SPDX-License-Identifier: BSD-3-Clause
// The home's side of mutexes: where the token of each is, who gets it next, and what becomes of it when a node dies
// (lock_home.cpp).
#pragma once

#include <vector>

#include "base/fault_heap.hpp"
#include "sync/context.hpp"
#include "sync/object_table.hpp"
#include "sync/saved.hpp"

namespace quire::sync {

class lock_home {
 public:
  /// The node's side on the home itself: messages to it would be to this node.
  class own_node {
   public:
    virtual void on_pass(const message& m, actions& out) = 0;
    /// This node has the token from now on; nobody else does. `orphaned`: who had it last may have died with it.
    virtual void adopt_token(object_id id, bool orphaned, actions& out) = 0;
    [[nodiscard]] virtual bool has_token(object_id id) const noexcept = 0;
    /// A request of this node for the token is on its way.
    [[nodiscard]] virtual bool is_requested(object_id id) const noexcept = 0;

   protected:
    ~own_node() = default;
  };

  lock_home(context& c, own_node& own) noexcept : shared_(c), own_(own) {}

  /// A mutex whose token is here.
  void make(object_id id) { homes_.make(id).holder = shared_.self; }
  [[nodiscard]] bool may_exist(object_id id) const noexcept { return homes_.find(id) != nullptr || may_inherit(id); }
  void refuse(node_id to, object_id id, quire_status status, actions& out) const;

  void on_lock_request(const message& m, actions& out);
  void on_arrived(object_id id, node_id at, actions& out);
  void on_kept(const message& m, actions& out);
  void on_revoked(const message& m, actions& out);
  /// mutex_destroy, or an unlock by a thread that does not own the mutex.
  void on_request(const message& m, actions& out);

  // Deaths (lock_loss.cpp).
  void cut();
  void on_survives(const message& m);
  void settle(actions& out);

  [[nodiscard]] bool is_valid() const noexcept;
  /// For checkpoints.
  void save(std::vector<saved_object>& to) const;

 private:
  struct entry {
    node_id holder{};
    bool passing = false;       ///< on its way from `holder` to `next`
    bool dying = false;         ///< destroyed; the token is to be revoked
    bool own_is_stale = false;  ///< inherited while this node's own request was on its way: it has the token already
    bool found = false;         ///< after a death: the token is at `holder`
    node_id next{};
    waiter_queue queue{};  ///< nodes
    waiter destroyer{};
  };

  [[nodiscard]] entry* find_home(object_id id, actions& out);
  void proceed(object_id id, entry& e, actions& out);
  void end_destroy(object_id id, actions& out);
  [[nodiscard]] bool may_inherit(object_id id) const noexcept;
  entry& inherit(object_id id, actions& out);

  context& shared_;
  own_node& own_;
  object_table<entry> homes_;
  base::fault_vector<object_id> destroyed_;  ///< of those inherited: they must not come to life again
};

}  // namespace quire::sync
