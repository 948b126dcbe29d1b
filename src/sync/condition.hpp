// SPDX-License-Identifier: BSD-3-Clause
// Condition variables. A wait is put into the queue at the condition's home first; only when the home has said so does
// the thread's node release the mutex, so that no notify between the two is lost. Woken or timed out, it takes the
// mutex again.
#pragma once

#include "sync/lock.hpp"

namespace quire::sync {

class condition_part {
 public:
  condition_part(context& c, lock_part& locks) : shared_(c), locks_(locks) {}
  [[nodiscard]] object_id create();

  // Node side.
  void on_wait(const call& c, actions& out);
  void on_notify(const call& c, actions& out);
  void on_queued(const message& m, actions& out);
  void on_reply(ticket t, waiting_call& w, quire_status status, actions& out);

  // Home side.
  void on_request(const message& m, actions& out);
  /// Takes a call out of the queue; false if it is not there.
  bool withdraw(const message& m);
  /// Nodes have died: their threads wait no longer.
  void cut() noexcept;
  /// For checkpoints: those whose home is here; and to have one again, with nobody waiting.
  void save(std::vector<saved_object>& to) const;
  void load(object_id id);

 private:
  struct entry {
    waiter_queue queue{};
  };
  context& shared_;
  lock_part& locks_;
  object_table<entry> home_;
};

}  // namespace quire::sync
