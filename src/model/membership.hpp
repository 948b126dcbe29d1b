// SPDX-License-Identifier: BSD-3-Clause
// Which nodes of a job are dead or have left, as one node knows it. Jobs that go on without them have at most 64 nodes
// (a bit each). Of those that may join later, numbers from `founders` on, those that have not yet count as if they had
// left before anything began.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>

#include "model/failure_domains.hpp"
#include "model/ids.hpp"

namespace quire::model {

struct membership {
  static constexpr unsigned most_nodes = 64;
  std::uint64_t dead = 0;  ///< or left
  /// Of those: nodes that had given up all that they had before they went. What they managed is node 0's from then on,
  /// as they have told it what they knew; unless the end of what one told has not come (`torn`).
  std::uint64_t left = 0, torn = 0;
  /// Where content is kept on two nodes: those after whose death all content was on two nodes again; and those that
  /// died while it was not, if not all of them were of one failure domain.
  std::uint64_t mended = 0, together = 0;
  failure_domains domains{};
  /// Those that may join, or have: none of them takes over what another has managed. Of those: that have not yet.
  std::uint64_t joiners = 0, absent = 0;

  /// A job of `nodes` nodes, of which `founders` are there at its start; as node `self` sees it.
  [[nodiscard]] static constexpr membership begin(unsigned self, unsigned nodes, unsigned founders,
                                                  failure_domains domains) noexcept {
    membership m{.domains = domains};
    for (unsigned n = founders; n < nodes && n < most_nodes; ++n) m.joiners |= std::uint64_t{1} << n;
    m.absent = m.dead = m.left = m.mended = m.joiners & ~(self < most_nodes ? std::uint64_t{1} << self : 0);
    return m;
  }
  /// Of these nodes, those that were absent have joined: they have nothing yet. Which ones.
  constexpr std::uint64_t join(std::uint64_t nodes) noexcept {
    const std::uint64_t come = absent & nodes;
    for (std::uint64_t* const bits : {&absent, &dead, &left, &torn, &mended, &together}) *bits &= ~come;
    return come;
  }
  /// More nodes may be dead than were known to be.
  constexpr void learn(std::uint64_t all_dead, std::uint64_t all_left = 0, std::uint64_t all_torn = 0) noexcept {
    dead |= all_dead;
    left |= all_left;
    torn |= all_torn;
    if (fresh() > 1) together |= dead & ~mended;
  }
  constexpr void mend() noexcept { mended = dead; }
  /// How many failure domains have been hit since content was in two of them. Where one alone was left, content was on
  /// two nodes of it, and each counts.
  [[nodiscard]] constexpr int fresh() const noexcept {
    const std::uint64_t gone = dead & ~mended;
    return domains.count(~mended) > 1 ? domains.count(gone) : std::popcount(gone);
  }
  [[nodiscard]] constexpr bool died_together(node_id node) const noexcept {
    return together != 0 && (together >> node.value() & 1) != 0;
  }

  [[nodiscard]] constexpr bool is_dead(node_id node) const noexcept {
    return dead != 0 && (dead >> node.value() & 1) != 0;
  }
  [[nodiscard]] constexpr bool has_left(node_id node) const noexcept {
    return left != 0 && (left >> node.value() & 1) != 0;
  }
  /// The node whose tables begin with what `node` has at the start of a job: itself, unless another has taken them
  /// over.
  [[nodiscard]] constexpr node_id origin(node_id node) const noexcept {
    return has_left(node) && (torn >> node.value() & 1) == 0 ? node_id{0} : node;
  }
  /// `node`, or the next founder alive if it is dead: who takes over what it managed. A node that joins changes none.
  [[nodiscard]] constexpr node_id successor(node_id node, unsigned nodes) const noexcept {
    if (has_left(node)) node = node_id{0};
    if (!is_dead(node)) return node;
    const std::uint64_t all = nodes < most_nodes ? (std::uint64_t{1} << nodes) - 1 : ~std::uint64_t{0};
    const std::uint64_t alive = all & ~dead, founders = alive & ~joiners, heirs = founders != 0 ? founders : alive;
    do {
      node = node_id{static_cast<std::uint16_t>((node.value() + 1) % nodes)};
    } while ((heirs >> node.value() & 1) == 0);
    return node;
  }
  /// The nodes of `nodes` that may keep a second copy of what `owner` has: those alive in other failure domains, or
  /// else in its own.
  [[nodiscard]] constexpr std::uint64_t backups(node_id owner, unsigned nodes) const noexcept {
    const std::uint64_t all = nodes < most_nodes ? (std::uint64_t{1} << nodes) - 1 : ~std::uint64_t{0};
    const std::uint64_t elsewhere = all & ~dead & ~domains.of(owner);
    return elsewhere != 0 ? elsewhere : all & ~dead & ~(std::uint64_t{1} << owner.value());
  }
  [[nodiscard]] constexpr bool is_backup(node_id owner, node_id node, unsigned nodes) const noexcept {
    return (backups(owner, nodes) >> node.value() & 1) != 0;
  }
  /// The one of them that `owner` takes if all are alike, so that owners are spread over them: the n-th node of a
  /// domain takes the n-th that follows the domain's first. `owner` if there is none.
  [[nodiscard]] constexpr node_id backup(node_id owner, unsigned nodes) const noexcept {
    const std::uint64_t among = backups(owner, nodes), domain = domains.of(owner);
    if (among == 0) return owner;
    const bool elsewhere = (among & domain) == 0;
    int skip = elsewhere ? std::popcount(domain & ((std::uint64_t{1} << owner.value()) - 1)) % std::popcount(among) : 0;
    unsigned found = elsewhere ? static_cast<unsigned>(std::countr_zero(domain)) : owner.value();
    do {
      found = (found + 1) % nodes;
    } while ((among >> found & 1) == 0 || skip-- > 0);
    return node_id{static_cast<std::uint16_t>(found)};
  }
  friend bool operator==(membership, membership) noexcept = default;
};

}  // namespace quire::model
