// SPDX-License-Identifier: BSD-3-Clause
// What a node knows of who wrote what: the write notices of all intervals, its own and those heard of, in the order in
// which it learned them; its vector timestamp; and how much of that each other node has been told by it. Lazy release
// consistency: Keleher, Cox and Zwaenepoel (ISCA 1992).
//
// A node tells another all that it has learned since it last told it something; so a node knows of each writer the
// intervals up to a number, and none beyond (its vector timestamp), and what it hears twice it can tell. Whatever is
// known to all is forgotten (forget, after barriers). Where barriers are rare, the notices are packed: one for each
// unit and writer, with that writer's last interval. That may invalidate a copy too many, never one too few.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "protocol/release/interval.hpp"
#include "protocol/release/notices.hpp"

namespace quire::release {

class history {
 public:
  /// A place between notices: everything before it was learned earlier. Grows for ever.
  using position = std::uint64_t;
  static constexpr std::size_t default_limit = 65'536;

  /// `limit`: notices beyond which they are packed.
  history(node_id self, unsigned nodes, std::size_t limit = default_limit)
      : self_(self), limit_(limit), known_(nodes), told_(nodes) {}

  /// This node's interval ends: `written` (sorted by this call) becomes its notices.
  void add_interval(base::fault_vector<written_unit>& written);
  /// The home of a unit has come to this node. After all of them: end_moves().
  void add_move(model::region_id region, std::uint64_t unit, node_id home, std::uint16_t moves);
  /// The moves are an interval of their own: what is not known to be complete goes from node to node again and again.
  void end_moves();
  /// `from` told about `n`. False if it was known already.
  bool learn(const notice& n, node_id from);

  [[nodiscard]] position end() const noexcept { return base_ + log_.size(); }
  /// The notice at `at`, which is not forgotten and not the end.
  [[nodiscard]] const notice& operator[](position at) const noexcept { return log_[at - base_].what; }
  /// Who told of it; this node for its own, and for what has been packed: there it is not known any more.
  [[nodiscard]] node_id source(position at) const noexcept { return log_[at - base_].source; }
  /// The first that is not forgotten.
  [[nodiscard]] position begin() const noexcept { return base_; }
  /// Grows whenever notices are packed: places kept from before mean nothing then, and start again from begin().
  [[nodiscard]] std::uint64_t packed() const noexcept { return packings_; }

  /// The next notice that `to` has not been told of by this node, nor told this node itself; null if there is none.
  /// `at` is where the search goes on.
  [[nodiscard]] const notice* next_for(node_id to, position& at) const noexcept;
  [[nodiscard]] position told(node_id to) const noexcept { return told_[to.value()]; }
  void set_told(node_id to, position up_to) noexcept { told_[to.value()] = up_to; }
  /// Up to where this node's copies have been invalidated.
  [[nodiscard]] position applied() const noexcept { return told_[self_.value()]; }
  void set_applied(position up_to) noexcept { told_[self_.value()] = up_to; }

  /// The region goes: of its notices nothing is left but where intervals end.
  void forget_region(model::region_id region);
  /// Every node knows what comes before `up_to`.
  void forget(position up_to);
  /// Nothing that is known has to be told, or means anything: no node has a copy.
  void forget_all() {
    forget(end());
    for (position& told : told_) told = base_;
  }
  /// Last complete interval known of `writer`: an element of the vector timestamp.
  [[nodiscard]] std::uint32_t known(node_id writer) const noexcept { return known_[writer.value()]; }
  /// All of it, by node.
  [[nodiscard]] std::span<const std::uint32_t> timestamp() const noexcept { return known_; }
  [[nodiscard]] std::size_t size() const noexcept { return log_.size(); }

 private:
  struct entry {
    notice what{};
    node_id source{};  ///< see source()
  };
  void append(const notice& n, node_id source);
  void pack();

  node_id self_;
  std::size_t limit_;
  base::fault_vector<std::uint32_t> known_;
  base::fault_vector<position> told_;  ///< of this node itself: applied
  base::fault_vector<entry> log_{};
  position base_ = 0;
  std::uint64_t packings_ = 0;
  std::size_t packed_size_ = 0;
};

}  // namespace quire::release
