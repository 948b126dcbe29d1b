// SPDX-License-Identifier: BSD-3-Clause
// A parallel block on a region (KOAN, multiple-writers consistency), as its node sees it; and the merge of what all
// nodes wrote to the units whose home is here, for blocks that are to be checked: byte by byte it is known who changed
// what. Driver's thread; the merge of checked blocks, and declarations, take memory from the heap.
//
// In a checked block the home keeps the content from before (the base copy, in the unit's twin) as long as the block
// lasts, and answers requests with it. Diffs of others go into a copy of its own, so that nothing shows before
// the end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/fault_heap.hpp"
#include "core/unit_layout.hpp"
#include "diff/diff.hpp"
#include "model/ids.hpp"

namespace quire::core {

class block_merge {
 public:
  /// Two nodes changed one byte; a < b.
  struct overlap {
    std::uint64_t offset = 0;  ///< in the region
    model::node_id a{}, b{};
    friend auto operator<=>(const overlap& x, const overlap& y) noexcept {
      if (x.offset != y.offset) return x.offset <=> y.offset;
      return x.a != y.a ? x.a.value() <=> y.a.value() : x.b.value() <=> y.b.value();
    }
    friend bool operator==(const overlap&, const overlap&) noexcept = default;
  };
  static constexpr std::size_t most_kept = 32;

  explicit block_merge(const unit_layout& layout) : layout_(layout) {}

  /// A node's changes of a part of the unit that starts at `offset`: a diff of a page, or of what is left of the unit;
  /// or, if `raw`, the content itself. `base` is the unit as it was before the block. False if it is no diff.
  [[nodiscard]] bool add(std::uint64_t unit, std::size_t offset, model::node_id writer, std::span<const std::byte> data,
                         bool raw, const std::byte* base);
  /// Whether anybody but the home has changed the unit.
  [[nodiscard]] bool has(std::uint64_t unit) const { return units_.contains(unit); }
  /// The end: `content` is the unit with what the home itself changed, and gets the changes of all. `base`: null if the
  /// home changed nothing.
  void finish(std::uint64_t unit, model::node_id home, std::byte* content, const std::byte* base);

  /// The overlaps found: the lowest in the region is first; of a page, or a unit below one, and two nodes, the first
  /// byte. Not all are kept.
  [[nodiscard]] std::span<const overlap> overlaps() const noexcept { return found_; }
  [[nodiscard]] std::uint64_t overlap_count() const noexcept { return count_; }

 private:
  struct writer {
    model::node_id node{};
    base::fault_vector<std::uint64_t> changed{};  ///< a bit a byte
  };
  struct unit_merge {
    base::fault_vector<std::byte> merged;
    base::fault_vector<writer> writers{};
  };
  static constexpr std::size_t page_bytes = 4096;
  [[nodiscard]] static writer& writer_of(unit_merge& u, model::node_id node);
  void note(std::uint64_t unit, unit_merge& u, std::size_t offset, model::node_id node, const std::byte* copy,
            const std::byte* base, std::size_t bytes);
  void keep(const overlap& o);

  unit_layout layout_;
  diff::codec codec_{};
  base::fault_hash_map<std::uint64_t, unit_merge> units_{};
  base::fault_vector<overlap> found_{};
  std::uint64_t count_ = 0;
};

/// Bytes of a region: ranges that do not touch each other.
class byte_ranges {
 public:
  void add(std::uint64_t first, std::uint64_t end);
  /// f(first, end) for the parts that lie in [first, end), upwards.
  template <class F>
  void for_each_in(std::uint64_t first, std::uint64_t end, F&& f) const {
    auto at = ranges_.upper_bound(first);
    if (at != ranges_.begin()) --at;
    for (; at != ranges_.end() && at->first < end; ++at) {
      const std::uint64_t from = std::max(at->first, first), to = std::min(at->second, end);
      if (from < to) f(from, to);
    }
  }

 private:
  base::fault_map<std::uint64_t, std::uint64_t> ranges_{};  ///< from the first byte to the end
};

struct parallel_block {
  parallel_block(bool check, model::protocol_id now, const unit_layout& layout)
      : checked(check), before(now), merge(layout) {}
  bool checked;
  model::protocol_id before;  ///< of the region: it has that again at the end
  block_merge merge;
  byte_ranges declared{};  ///< what this node writes of the units they touch
};

}  // namespace quire::core
