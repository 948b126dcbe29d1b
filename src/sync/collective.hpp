// SPDX-License-Identifier: BSD-3-Clause
// Job barrier, reduce and broadcast: one thread of each node calls, contributions go up a tree of all nodes to node 0,
// the result comes down. Each node combines its own value first and then its children's in their order, whichever came
// first: the same bits on every node and in every run with as many nodes.
//
// Calls that differ cannot be of one round. Whoever finds two of them (its own and a child's, or two children's) sends that upwards
// at once, without the nodes that have not called yet: these may wait for one of the two. The round ends with QUIRE_INVALID on all
// nodes, and with a `mismatch` in place of a result; a node that had not called yet hears the same from its next call.
#pragma once

#include <array>

#include "sync/context.hpp"
#include "sync/mismatch.hpp"

namespace quire::sync {

/// Children of a node of the tree: with 8, a thousand nodes are four levels.
inline constexpr unsigned tree_arity = 8;
inline constexpr unsigned max_reduce_values = 8;

class collective_part {
 public:
  explicit collective_part(context& c) : shared_(c) {}

  /// barrier_wait, reduce_f64, reduce_i64, broadcast.
  void on_call(const call& c, actions& out);
  void on_gather(const message& m, std::span<const std::byte> bytes, actions& out);
  void on_spread(const message& m, std::span<const std::byte> bytes, actions& out);
  // Deaths: the round is gathered again, by a tree of the survivors; if some of them have ended it before, by their result.
  void cut() noexcept;
  void report(actions& out);
  void on_survey(const message& m, std::span<const std::byte> bytes) noexcept;
  void settle(actions& out);
  void resume(actions& out) { gather(out); }
  /// All waiting calls of the node have ended, and there will be no more.
  void forget_waiting() noexcept { called_ = false; }

 private:
  struct contribution {
    bool present = false;
    quire_status status = QUIRE_OK;
    signature what = 0;
    value values{};
  };
  static bool is_refused(quire_status s) noexcept { return s != QUIRE_OK && s != QUIRE_LOST; }
  [[nodiscard]] bool complete() const noexcept;
  [[nodiscard]] const contribution* find_refused() const noexcept;
  [[nodiscard]] bool find_mismatch(mismatch& found) const noexcept;
  [[nodiscard]] contribution sum_up() const;
  void gather(actions& out);
  void tell(const contribution& sum, actions& out);
  void finish_round(quire_status status, const value& result, actions& out);
  // The tree is one of ranks: the place of a node among those alive.
  [[nodiscard]] unsigned alive() const noexcept;
  [[nodiscard]] unsigned rank_of(node_id node) const noexcept;
  [[nodiscard]] node_id at_rank(unsigned rank) const noexcept;
  [[nodiscard]] unsigned first_child() const noexcept { return rank_of(shared_.self) * tree_arity + 1; }
  [[nodiscard]] unsigned children() const noexcept;
  [[nodiscard]] bool is_root() const noexcept { return rank_of(shared_.self) == 0; }
  [[nodiscard]] node_id parent() const noexcept;
  void end_rounds(std::uint64_t until, quire_status status, const value& result, actions& out);

  context& shared_;
  std::uint64_t round_ = 0;  ///< of collectives that this node has completed
  bool called_ = false;
  bool told_ = false;  ///< what is known of this round has gone upwards
  ticket who_{};
  contribution own_{};
  contribution last_{};   ///< result of the last round; kept for those who have missed it
  contribution ahead_{};  ///< result of the last round that another node has ended, if that is this one or later
  std::uint64_t ahead_round_ = 0;  ///< so many had it ended
  std::uint64_t unheard_ = 0;  ///< refused rounds that ended before a thread of this node called; `last_` is of the last of them
  std::array<contribution, tree_arity> from_children_{};
};

}  // namespace quire::sync
