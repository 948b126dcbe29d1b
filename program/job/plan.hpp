// SPDX-License-Identifier: BSD-3-Clause
// Which threads of a team are on which node. Pure.
#pragma once

#include <cstdint>

namespace quire::program {

/// Threads of one node in a team: consecutive numbers.
struct share {
  int first = 0, count = 0;
};

/// A team that has fewer threads than there are nodes stays with its master: a round of messages costs more than such a
/// team can gain.
[[nodiscard]] constexpr bool spans_nodes(int threads, int nodes) noexcept { return nodes > 1 && threads >= nodes; }

/// In blocks, as static schedules are: neighbours in a loop are neighbours on a node.
[[nodiscard]] constexpr share share_of(int node, int threads, int nodes) noexcept {
  if (!spans_nodes(threads, nodes)) return node == 0 ? share{0, threads} : share{};
  const auto begin = [&](int n) { return static_cast<int>(std::int64_t{threads} * n / nodes); };
  return {begin(node), begin(node + 1) - begin(node)};
}

}  // namespace quire::program
