// SPDX-License-Identifier: BSD-3-Clause
// Which nodes of a job are dead, as one node knows it. Jobs that go on without them have at most 64 nodes (a bit each).
#pragma once

#include <cstdint>

#include "model/ids.hpp"

namespace quire::model {

struct membership {
  static constexpr unsigned most_nodes = 64;
  std::uint64_t dead = 0;
  /// Where content is kept on two nodes: those after whose death all content was on two nodes again; and those that
  /// died while it was not.
  std::uint64_t mended = 0, together = 0;

  /// More nodes may be dead than were known to be.
  constexpr void learn(std::uint64_t all_dead) noexcept {
    dead |= all_dead;
    if (fresh() > 1) together |= dead & ~mended;
  }
  constexpr void mend() noexcept { mended = dead; }
  /// How many have died since content was on two nodes.
  [[nodiscard]] constexpr int fresh() const noexcept { return __builtin_popcountll(dead & ~mended); }
  [[nodiscard]] constexpr bool died_together(node_id node) const noexcept {
    return (together >> node.value() & 1) != 0;
  }

  [[nodiscard]] constexpr bool is_dead(node_id node) const noexcept {
    return dead != 0 && (dead >> node.value() & 1) != 0;
  }
  /// `node`, or the next one alive if it is dead: who takes over what it managed.
  [[nodiscard]] constexpr node_id successor(node_id node, unsigned nodes) const noexcept {
    while (is_dead(node)) node = node_id{static_cast<std::uint16_t>((node.value() + 1) % nodes)};
    return node;
  }
  friend bool operator==(membership, membership) noexcept = default;
};

}  // namespace quire::model
