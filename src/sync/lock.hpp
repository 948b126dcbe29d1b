// SPDX-License-Identifier: BSD-3-Clause
// Mutexes. The right to lock one (its token) stays at the node that used it last: locking there again costs no message.
// The home hands it on, one move at a time, first come first served by node; threads of one node queue at their node.
// As in the lazy release systems the token goes straight from node to node, and write notices can travel with it.
//
// A token that the home itself gives away is settled: the home knows where it is from then on and waits for nothing. So
// the next order about it, lock_pass or lock_revoke, may follow it closely, and must not overtake it. Transports keep
// the order between two nodes (transport.hpp); nothing else here needs that.
#pragma once

#include <array>

#include "base/fault_heap.hpp"
#include "sync/context.hpp"
#include "sync/lock_home.hpp"
#include "sync/object_table.hpp"
#include "sync/saved.hpp"

namespace quire::sync {

/// As many threads of the node that has the token may take the mutex after another node has asked for it.
inline constexpr unsigned max_local_grants = 16;
/// How long a mutex that another node wants is kept at most while it is free, where threads used to lock it again at
/// once.
inline constexpr std::uint64_t linger_ns = 20'000;

class lock_part final : lock_home::own_node {
 public:
  explicit lock_part(context& c) : shared_(c) {}

  // Node side: calls of this node's threads.
  [[nodiscard]] object_id create();
  void on_lock(const call& c, actions& out);
  void on_unlock(const call& c, actions& out);
  /// The time of a waiting lock call ran out.
  void withdraw(ticket t, actions& out);
  void on_linger_over(object_id id, actions& out);
  /// All waiting calls of the node have ended.
  void forget_waiting() noexcept;

  // For conditions.
  [[nodiscard]] bool is_owner(object_id id, std::uint32_t thread) const noexcept;
  /// The thread gives the mutex up, if it still has it.
  /// `now_ns`: of an unlock, as in call; 0: the thread is going to wait for something else.
  void release(object_id id, std::uint32_t thread, std::uint64_t now_ns, actions& out);
  /// Takes the mutex for the thread of a waiting call and then completes that with its `result`.
  void acquire(object_id id, ticket t, actions& out);

  // Deaths (lock_loss.cpp).
  void cut();
  void absorb(const message& m, actions& out);
  void report(actions& out);
  void settle(actions& out) { home_.settle(out); }
  void resume(actions& out);

  /// kind::lock_... only.
  void on_message(const message& m, actions& out);
  /// Home: mutex_destroy, or an unlock by a thread that does not own the mutex.
  void on_request(const message& m, actions& out) { home_.on_request(m, out); }

  /// Some mutex is locked by a thread of this node, or its next owner has to hear of a death.
  [[nodiscard]] bool holds_any() const noexcept;

  [[nodiscard]] bool is_valid() const noexcept;
  /// f(mutex, held, thread) for each that this node has the right to lock; `thread` of it holds it if `held`.
  template <class F>
  void for_each_right(F&& f) const {
    for (const auto& [id, l] : local_) {
      if (l.has_token) f(id, l.owned, l.owner);
    }
  }
  /// Whether this node has the right to lock (for checkers).
  [[nodiscard]] bool has_token(object_id id) const noexcept override;
  /// Whether it keeps that for threads of its own that have not come yet (for checkers).
  [[nodiscard]] bool lingers(object_id id) const noexcept;
  /// For checkpoints: mutexes whose home is here; and to have one again, free.
  void save(std::vector<saved_object>& to) const { home_.save(to); }
  void load(object_id id);

 private:
  struct local {
    bool has_token = false;
    bool rests = false;      ///< came while a death is being dealt with: nobody gets it before all go on
    bool requested = false;  ///< the home will answer with a grant or a refusal
    bool owned = false;
    bool orphaned = false;  ///< the token was a dead node's; who gets it next is told
    bool wanted = false;    ///< the home wants the token to go to `next`
    bool lingers = false;   ///< wanted, free, and kept for a thread that is likely to come soon (lock_linger.cpp)
    std::uint32_t owner = 0;
    unsigned grants = 0;  ///< since it is wanted
    node_id next{};
    call_list waiting{};
  };
  [[nodiscard]] bool is_requested(object_id id) const noexcept override;
  // lock.cpp
  [[nodiscard]] bool may_exist(object_id id) const noexcept;
  void own(object_id id, local& l, std::uint32_t thread) noexcept;
  void take(object_id id, local& l, ticket t, actions& out);
  void request(object_id id, local& l, bool try_only, actions& out);
  void pass_on(object_id id, local& l, actions& out);
  void hand_over(object_id id, local& l, node_id to, actions& out);
  void end_waiting(local& l, quire_status status, actions& out);
  void on_pass(const message& m, actions& out) override;
  void on_grant(const message& m, actions& out);
  void on_refused(const message& m, actions& out);
  void on_revoke(const message& m, actions& out);
  // lock_linger.cpp
  /// How threads here use a mutex; forgotten where another one takes the place.
  struct habit {
    object_id id{};
    std::uint64_t freed_ns = 0;  ///< 0: it is locked, or a thread gave it up to wait for a condition
    std::uint64_t ended = 0;     ///< of call_table, at that time
    unsigned again = 0;          ///< times in a row that it was locked again soon, and of a thread's own accord
    unsigned vain = 0;           ///< times that others were kept waiting, and no thread came; less those where one did
  };
  [[nodiscard]] habit& habit_of(object_id id) noexcept;
  void note_lock(object_id id, std::uint64_t now_ns) noexcept;
  void note_unlock(object_id id, std::uint64_t now_ns) noexcept;
  void note_use(object_id id) noexcept;
  [[nodiscard]] bool linger(object_id id, local& l, actions& out);
  // lock_loss.cpp
  void adopt_token(object_id id, bool orphaned, actions& out) override;

  context& shared_;
  object_table<local> local_;
  std::array<habit, 64> habits_{};
  lock_home home_{shared_, *this};
};

}  // namespace quire::sync
