// SPDX-License-Identifier: BSD-3-Clause
// Objects that share a unit falsely move apart, during a collection (as the Plurix system relocates them). Evidence is
// what nodes wrote of units that went to and fro: words, or the lines that transactions note. If of a unit two nodes
// alone write an object each, the unit is shared falsely; then what one node alone writes moves to memory of that
// node's slice, where only such objects lie. What several nodes write, or nobody, stays, and so do the objects of one
// of the writers: of the slice's node, if it is one.
//
// A unit has 512 words, however large it is: in units beyond a page small neighbours are not told apart, and stay.
//
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "gc/shape.hpp"
#include "sharing/parts.hpp"

namespace quire::gc {

/// What a node wrote of a unit.
struct written_part {
  unsigned node = 0;
  sharing::word_mask words{};
};

/// Of all nodes, by unit. What is added twice is added up.
class evidence {
 public:
  static constexpr std::size_t most_units = 4096;  ///< more of them are not looked at
  void add(std::uint64_t unit, unsigned node, const sharing::word_mask& words);
  [[nodiscard]] const std::map<std::uint64_t, std::vector<written_part>>& units() const noexcept { return units_; }
  void clear() noexcept { units_.clear(); }

 private:
  std::map<std::uint64_t, std::vector<written_part>> units_{};
};

struct live_object {
  std::uint64_t granule = 0, count = 0;
};

/// An object that should move to the slice of a node.
struct wish {
  live_object what{};
  unsigned to = 0;
};

/// What should move of a unit, whose objects are all live ones that lie wholly in it; in their order. `home`: the node
/// of the slice.
[[nodiscard]] std::vector<wish> plan(const heap_shape& shape, std::uint64_t unit, std::span<const written_part> written,
                                     std::span<const live_object> objects, unsigned home);

/// Where objects have moved.
class forwarding {
 public:
  struct move {
    std::uint64_t from = 0, to = 0, count = 0;  ///< granules
  };
  void add(const move& one) {
    moves_.push_back(one);
    by_from_[one.from] = one.to;
  }
  /// Of a reference: what it has to be now.
  [[nodiscard]] std::uint64_t now(std::uint64_t value, std::uint64_t base) const noexcept {
    if (value == 0) return 0;
    const auto found = by_from_.find(granule_at(value - base));
    return found == by_from_.end() ? value : base + object_offset(found->second);
  }
  [[nodiscard]] const std::vector<move>& moves() const noexcept { return moves_; }

 private:
  std::vector<move> moves_{};
  std::unordered_map<std::uint64_t, std::uint64_t> by_from_{};
};

}  // namespace quire::gc
