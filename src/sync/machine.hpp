// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation as a machine without I/O, one per node: mutex, reader-writer lock, condition, barrier, event,
// semaphore, groups of threads with their barriers, reductions and broadcasts. One part a file; README.md has the
// messages of each.
//
// Called on the driver's thread by the engine, and by the simulator. Every step appends what is to be done; the caller
// performs the actions in order. Messages to the machine's own node are actions like any other. Each message must
// arrive exactly once, and those from one node to another in order (only mutexes need that, see README.md).
//
// What holds for all calls:
//  - Each ends with exactly one `complete`, in this step or a later one. Creating an object completes at once.
//  - A handle that no object can have ends with QUIRE_INVALID, an object that is gone with QUIRE_NOT_FOUND.
//  - Destroying an object ends calls that wait for it with QUIRE_NOT_FOUND; whoever holds it goes on holding nothing.
//  - A thread that locks what it holds already gets QUIRE_INVALID (or QUIRE_BUSY from a try) rather than wait for
//  itself.
#pragma once

#include "sync/barrier.hpp"
#include "sync/condition.hpp"
#include "sync/context.hpp"
#include "sync/event.hpp"
#include "sync/groups.hpp"
#include "sync/lock.hpp"
#include "sync/rwlock.hpp"
#include "sync/saved.hpp"
#include "sync/semaphore.hpp"

namespace quire::sync {

class machine {
 public:
  /// `members`: as they are at the start; this node may be absent, until a first recovery is over.
  explicit machine(node_id self, unsigned nodes, array_limits limits = {}, const model::membership& members = {});
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  /// A thread of this node calls. The thread may have no other call that waits.
  void on_call(const call& c, actions& out);
  /// A message of kinds sync_first to sync_last. Whatever does not fit the state is ignored.
  void on_message(const message& m, std::span<const std::byte> payload, actions& out);
  /// The time of the call `token` ran out. Its completion follows if it has not been already: QUIRE_TIMED_OUT if the
  /// call could be withdrawn, else what it got. A mutex's comes in this step; others ask their home first, and a
  /// condition_wait takes its mutex again. Barriers, reduce and broadcast take no time limit: nothing happens.
  void on_cancel(std::uint64_t token, actions& out);
  /// The time of an action `linger` is over. A late or a second one does no harm.
  void on_linger_over(std::uint64_t object, actions& out) { locks_.on_linger_over(object_id{object}, out); }
  /// A node of the job is lost. All calls that wait end with QUIRE_PEER_LOST, as nobody can tell which of them the lost
  /// node would have served; so do all later ones but unlocks. A condition_wait ends without its mutex.
  void on_peer_lost(actions& out);

  // A node of the job is dead, and the others go on (loss.cpp; README.md, Deaths). The calls in the order of
  // src/watch/recovery.hpp; jobs of at most 64 nodes.
  /// `dead`: all that are, or have left; of those, `left`, no thread had anything. What only they kept ends with
  /// QUIRE_LOST. Who was among them and is no more has joined.
  void cut(std::uint64_t dead, actions& out, std::uint64_t left = 0);
  /// A message that was sent before its sender knew.
  void absorb(const message& m, std::span<const std::byte> payload, actions& out);
  /// `torn`: of those that have left, from which not all has come.
  void report(actions& out, std::uint64_t torn = 0);
  void settle(actions& out);
  /// It is over: what waits is asked for again.
  void resume(actions& out);

  // Checkpoints (saved.cpp).
  /// The objects whose home is here, as far as they outlast their threads: who holds or waits for one is not saved.
  [[nodiscard]] saved_objects save() const;
  /// Takes over those of `all` whose home is here now. Of all nodes, before any object was made; else false.
  [[nodiscard]] bool load(std::span<const saved_objects> all);
  /// Nodes that may have made objects: more than the job has after a restart on fewer.
  [[nodiscard]] unsigned makers() const noexcept { return shared_.makers; }
  /// Whether this node has made objects.
  [[nodiscard]] bool is_used() const noexcept { return shared_.made != 0; }

  /// Whether a call of a group's collective would be the last of this node's in its round: from it on the node waits
  /// for others.
  [[nodiscard]] bool is_last(const call& c) const noexcept { return groups_.is_last(c); }
  /// After it: the other node that hears first of what threads here have done; this node if it is none, or several.
  [[nodiscard]] node_id next_told(const call& c) const noexcept { return groups_.next_told(c); }
  /// Threads of a group; null if there is none. The job is one.
  [[nodiscard]] const group_shape* shape_of(object_id group) const noexcept { return groups_.shape_of(group); }
  /// The tree of the job's collectives.
  [[nodiscard]] const tree& hierarchy() const noexcept { return groups_.hierarchy(); }

  // For people who ask what the node waits for.
  /// f(lock, held, thread): locks that threads of this node hold, and mutexes that it has the right to lock.
  template <class F>
  void for_each_lock(F&& f) const {
    locks_.for_each_right(f);
    rwlocks_.for_each_held([&](object_id id, std::uint32_t thread) { f(id, true, thread); });
  }
  template <class F>
  void for_each_arrival(F&& f) const {
    barriers_.for_each_arrival(f);
    groups_.for_each_arrival(
        [&](object_id id, std::uint32_t arrived, std::uint32_t of) { f(id, shared_.self, arrived, of); });
  }
  /// f(thread, mutex): waits for conditions that are over but for the mutex.
  template <class F>
  void for_each_reacquiring(F&& f) {
    shared_.calls.for_each([&](ticket, const waiting_call& w) {
      if (w.what == operation::condition_wait && w.at == phase::reacquire) f(w.thread, w.mutex);
    });
  }
  /// Calls that wait on this node.
  [[nodiscard]] std::size_t waiting() const noexcept { return shared_.calls.size(); }
  /// No thread of this node waits, has a mutex locked, or would have to hear of a death by one.
  [[nodiscard]] bool is_idle() const noexcept { return waiting() == 0 && !locks_.holds_any(); }
  /// Everything that must hold on this node alone; the simulator adds what must hold across nodes.
  [[nodiscard]] bool is_valid() const noexcept;
  [[nodiscard]] const lock_part& locks() const noexcept { return locks_; }

 private:
  [[nodiscard]] bool create(const call& c, actions& out);
  void on_request(const message& m, actions& out);
  void on_reply(const message& m, actions& out);
  void on_cancel_message(const message& m, actions& out);
  void end_lost_calls(actions& out);
  void ask_to_withdraw(ticket t, const waiting_call& w, actions& out);

  context shared_;
  lock_part locks_;
  rwlock_part rwlocks_;
  condition_part conditions_;
  barrier_part barriers_;
  event_part events_;
  semaphore_part semaphores_;
  group_part groups_;
};

}  // namespace quire::sync
