// SPDX-License-Identifier: BSD-3-Clause
// The rounds of a group of threads on one of its nodes: barrier, reduce and broadcast. Threads of a node meet here
// first. Then contributions go up a tree of the group's nodes to the first of them, and the result comes down. Each
// node combines its own threads' values first, in the order of their places, and then its children's in their order,
// whichever came first: the same bits on every node and in every run of as large a group. The job is the group of one
// thread of each node, whichever thread that is.
//
// Calls that differ cannot be of one round. Whoever finds two of them (of its threads, or a thread's and a child's, or
// two children's) sends that upwards at once, without the threads that have not called yet: these may wait for one of
// the two. The round ends with QUIRE_INVALID on all nodes, and with a `mismatch` in place of a result; a thread that
// had not called yet hears the same from its next call.
//
// The root can wait until all others have called (await_nodes), before it calls itself: they wait for its call then,
// and both together are one round, not two.
//
// Values of more bytes than a `value` has follow when a round has found that all have called the same (exchange.hpp).
#pragma once

#include <array>
#include <vector>

#include "base/fault_heap.hpp"
#include "sync/context.hpp"
#include "sync/exchange.hpp"
#include "sync/mismatch.hpp"

namespace quire::sync {

inline constexpr unsigned max_reduce_values = 8;  ///< of a collective of the job

class collective {
 public:
  /// `group`: none for the job.
  collective(context& c, object_id group, group_shape shape, array_limits limits);
  collective(const collective&) = delete;
  collective& operator=(const collective&) = delete;

  /// A thread of this node becomes a member: QUIRE_INVALID if there is no such place or the thread has one,
  /// QUIRE_EXISTS if it is taken.
  [[nodiscard]] quire_status join(std::uint64_t place, std::uint32_t thread) noexcept;
  /// And is none any more. QUIRE_INVALID if it was none.
  [[nodiscard]] quire_status leave(std::uint32_t thread) noexcept;
  void on_call(const call& c, actions& out);
  /// Whether a call of this thread would be the last of the node's in the round.
  [[nodiscard]] bool is_last(std::uint32_t thread) const noexcept;
  /// The other node that hears first of what threads here have done before the round: the parent; of the root its
  /// child. This node if it has none, or several.
  [[nodiscard]] node_id next_told() const noexcept;
  /// The other nodes that hear of a round's end from this one are its children; it hears of it from its parent, or is
  /// the root.
  [[nodiscard]] const tree& hierarchy() const noexcept { return tree_; }

  void on_gather(const message& m, std::span<const std::byte> bytes, actions& out);
  void on_spread(const message& m, std::span<const std::byte> bytes, actions& out);
  void on_piece(const message& m, std::span<const std::byte> bytes, actions& out);
  // Deaths: the round is gathered again, by a tree of the survivors; if some of them have ended it before, by their
  // result. An array of a group that a death has struck is lost. Where nodes have joined, the job's round is gathered
  // with them, and its array is lost as well.
  void cut(model::membership now_dead, bool joined = false) noexcept;
  void report(actions& out);
  void on_survey(const message& m, std::span<const std::byte> bytes) noexcept;
  void settle(actions& out);
  void resume(actions& out) { gather(out); }
  /// All waiting calls of the node have ended, and there will be no more.
  void forget_waiting() noexcept;
  /// The group is destroyed: calls that wait end so.
  void end(quire_status status, actions& out);

  [[nodiscard]] const group_shape& shape() const noexcept { return shape_; }
  /// Threads of this node that have called.
  [[nodiscard]] std::uint32_t arrived() const noexcept { return arrived_; }
  [[nodiscard]] bool is_valid() const noexcept;

 private:
  enum class phase : std::uint8_t {
    away,
    called,
    exchanges,  ///< the round has ended, and the array has not come yet
  };
  /// A place for a thread of this node.
  struct slot {
    bool taken = false;
    phase at = phase::away;
    std::uint32_t thread = 0;
    std::uint32_t unheard =
        0;  ///< refused rounds that ended before a thread of this place called; `last_` is of the last of them
    ticket who{};
    signature what = 0;
    value values{};
    std::span<std::byte> data{};
  };
  struct contribution {
    bool present = false;
    quire_status status = QUIRE_OK;
    signature what = 0;
    value values{};
  };
  static bool is_refused(quire_status s) noexcept { return s != QUIRE_OK && s != QUIRE_LOST; }
  [[nodiscard]] bool is_job() const noexcept { return id_ == object_id{}; }
  [[nodiscard]] slot* find(std::uint32_t thread) noexcept;
  [[nodiscard]] bool all_called() const noexcept { return arrived_ == slots_.size(); }
  [[nodiscard]] bool children_called() const noexcept;
  [[nodiscard]] bool complete() const noexcept { return all_called() && children_called(); }
  [[nodiscard]] bool find_refused(contribution& found) const noexcept;
  [[nodiscard]] bool find_mismatch(mismatch& found) const noexcept;
  [[nodiscard]] contribution own() const;
  [[nodiscard]] contribution sum_up() const;
  void gather(actions& out);
  void tell(const contribution& sum, actions& out);
  void await(const call& c, actions& out);
  void end_await(quire_status status, const value& why, actions& out);
  void finish_round(quire_status status, const value& result, actions& out);
  void end_rounds(std::uint64_t until, quire_status status, const value& result, actions& out);
  void finish(slot& s, quire_status status, actions& out);
  [[nodiscard]] bool is_array_next() const noexcept;
  void begin_exchange(actions& out);
  void go_on(actions& out);
  void end_exchange(quire_status status, actions& out);
  [[nodiscard]] message make(kind k, quire_status status) const noexcept;

  context& shared_;
  object_id id_;
  group_shape shape_;
  tree tree_{shared_, shape_};
  exchange exchange_;
  std::uint64_t round_ = 0;           ///< of collectives that this node has completed
  bool told_ = false;                 ///< what is known of this round has gone upwards
  ticket awaits_{};                   ///< the root's call that waits for the others of this round; or none
  std::uint32_t arrived_ = 0;         ///< threads that have called
  base::fault_vector<slot> slots_{};  ///< of this node's threads, by place
  contribution last_{};               ///< result of the last round; kept for those who have missed it
  contribution ahead_{};  ///< result of the last round that another node has ended, if that is this one or later
  std::uint64_t ahead_round_ = 0;  ///< so many had it ended
  bool struck_ = false;            ///< a member has died or joined, and the others are not done with it
  std::array<contribution, tree_arity> from_children_{};
};

}  // namespace quire::sync
