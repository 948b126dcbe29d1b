// SPDX-License-Identifier: BSD-3-Clause
// The set of nodes that may hold a copy of a unit, in one 64-bit word. With up to 64 nodes a bit is a node; with more,
// a bit stands for a group of neighbouring nodes (the coarse vector of Gupta, Weber and Mowry 1990): the set may then
// name nodes without a copy, which simply acknowledge, and never misses one that has a copy.
#pragma once

#include <cstdint>

#include "model/ids.hpp"

namespace quire::model {

/// How many nodes there are and how many share one bit of a copyset.
struct geometry {
  std::uint16_t nodes = 1;
  std::uint8_t shift = 0;  ///< a group has 2^shift nodes

  static constexpr geometry of(unsigned nodes) noexcept {
    geometry g{static_cast<std::uint16_t>(nodes), 0};
    while ((nodes + (1u << g.shift) - 1) >> g.shift > 64) ++g.shift;
    return g;
  }
  /// True when a bit is one node, so that membership is certain.
  [[nodiscard]] constexpr bool exact() const noexcept { return shift == 0; }
  friend bool operator==(geometry, geometry) noexcept = default;
};

class copyset {
 public:
  constexpr copyset() noexcept = default;
  static constexpr copyset of(geometry g, node_id node) noexcept {
    copyset s;
    s.add(g, node);
    return s;
  }
  /// As bits() told.
  static constexpr copyset of_bits(std::uint64_t bits) noexcept {
    copyset s;
    s.bits_ = bits;
    return s;
  }
  constexpr void add(geometry g, node_id node) noexcept { bits_ |= bit(g, node); }
  /// `node` has no copy any more. Only if g.exact(): others may share its bit.
  constexpr void remove(geometry g, node_id node) noexcept { bits_ &= ~bit(g, node); }
  constexpr void clear() noexcept { bits_ = 0; }
  /// May `node` hold a copy? Certain if g.exact().
  [[nodiscard]] constexpr bool may_contain(geometry g, node_id node) const noexcept {
    return (bits_ & bit(g, node)) != 0;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }

  template <class F>
  constexpr void for_each(geometry g, node_id skip_a, node_id skip_b, F&& f) const {
    for (std::uint64_t rest = bits_; rest != 0; rest &= rest - 1) {
      const unsigned group = static_cast<unsigned>(__builtin_ctzll(rest));
      for (unsigned n = group << g.shift; n < (group + 1) << g.shift && n < g.nodes; ++n) {
        const node_id node{static_cast<std::uint16_t>(n)};
        if (node != skip_a && node != skip_b) f(node);
      }
    }
  }
  [[nodiscard]] constexpr unsigned count(geometry g, node_id skip_a, node_id skip_b) const noexcept {
    unsigned n = 0;
    for_each(g, skip_a, skip_b, [&n](node_id) { ++n; });
    return n;
  }
  friend bool operator==(copyset, copyset) noexcept = default;

 private:
  static constexpr std::uint64_t bit(geometry g, node_id node) noexcept {
    return std::uint64_t{1} << (node.value() >> g.shift);
  }
  std::uint64_t bits_ = 0;
};

}  // namespace quire::model
