// SPDX-License-Identifier: BSD-3-Clause
// The tree along which the nodes of a group meet, as one of them sees it. It is one of ranks: the rank of a node is its
// place among those of the group that are alive, so that survivors of a death have a tree of their own at once.
#pragma once

#include <algorithm>

#include "sync/context.hpp"
#include "sync/group_shape.hpp"

namespace quire::sync {

/// Children of a node of the tree: with 8, a thousand nodes are four levels.
inline constexpr unsigned tree_arity = 8;

class tree {
 public:
  tree(const context& shared, const group_shape& shape) noexcept : shared_(shared), shape_(shape) {}

  [[nodiscard]] unsigned alive() const noexcept { return shape_.nodes() - dead_before(shape_.nodes()); }
  [[nodiscard]] unsigned rank_of(node_id node) const noexcept {
    const unsigned place = shape_.place_of(node);
    return place - dead_before(place);
  }
  [[nodiscard]] node_id at_rank(unsigned rank) const noexcept {
    unsigned place = rank;
    while (shared_.members.is_dead(shape_.node_at(place)) || place - dead_before(place) != rank) ++place;
    return shape_.node_at(place);
  }
  [[nodiscard]] bool is_root() const noexcept { return rank_of(shared_.self) == 0; }
  [[nodiscard]] node_id parent() const noexcept { return at_rank((rank_of(shared_.self) - 1) / tree_arity); }
  [[nodiscard]] unsigned children() const noexcept {
    const unsigned first = first_child(), all = alive();
    return first >= all ? 0 : std::min(tree_arity, all - first);
  }
  [[nodiscard]] node_id child(unsigned i) const noexcept { return at_rank(first_child() + i); }
  /// Which child `node` is; tree_arity if it is none.
  [[nodiscard]] unsigned index_of(node_id node) const noexcept {
    if (shared_.members.is_dead(node) || node.value() >= shared_.nodes || shape_.threads_of(node) == 0)
      return tree_arity;
    const unsigned index = rank_of(node) - first_child();
    return index < children() ? index : tree_arity;
  }

 private:
  [[nodiscard]] unsigned first_child() const noexcept { return rank_of(shared_.self) * tree_arity + 1; }
  /// Of the first nodes of the group, up to this place.
  [[nodiscard]] unsigned dead_before(unsigned place) const noexcept {
    unsigned dead = 0;
    for (unsigned i = 0; shared_.members.dead != 0 && i < place; ++i)
      dead += shared_.members.is_dead(shape_.node_at(i)) ? 1 : 0;
    return dead;
  }

  const context& shared_;
  const group_shape& shape_;
};

}  // namespace quire::sync
