// SPDX-License-Identifier: BSD-3-Clause
// A region that memory is allocated from: the job's heap (region 0), or one that a program has made so. It is cut into
// slices of consecutive addresses, each of one node, which keeps what is known of it. Region 0 has a slice for each
// node. A smaller one has fewer where a slice would be too small to be of use; they go to the nodes that manage their
// first units when units are placed in blocks. So a node allocates from its own slice without a message, and where
// units are placed in blocks it is home of what it allocates.
//
// Any thread may ask; slices change only in load(), before anybody does.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "core/region_slot.hpp"
#include "heap/allocator.hpp"
#include "heap/heap.hpp"

namespace quire::region {

class shared_heap {
 public:
  /// A part of the heap. They cover it without gaps, by address.
  struct slice {
    std::uint64_t base = 0, end = 0;
    model::node_id node{};
    std::unique_ptr<heap::allocator> memory{};  ///< on its own node
  };
  /// Of a checkpoint: what some node has saved of a part.
  struct part {
    heap::saved_extent about;
    std::span<const std::uint64_t> words;
  };

  /// `guards`: see minipage_heap.
  shared_heap(const core::region_description& about, unsigned nodes, model::node_id self, bool guards = false);

  [[nodiscard]] const core::region_description& about() const noexcept { return about_; }
  /// Null for an address that lies in none.
  [[nodiscard]] const slice* slice_of(std::uint64_t address) const noexcept;
  /// Whether all of these addresses lie in one slice, and the node has it.
  [[nodiscard]] bool is_slice_of(model::node_id node, std::uint64_t first, std::uint64_t bytes) const noexcept {
    const slice* const s = slice_of(first);
    return s != nullptr && s->node == node && bytes <= s->end - first;
  }
  /// Nodes that have some of it, and so can be asked.
  [[nodiscard]] bool has_any(model::node_id node) const noexcept;

  // On this node's slices.
  /// QUIRE_BUSY: pages have to be laid out first.
  [[nodiscard]] base::result<heap::allocation> allocate_here(std::uint64_t bytes, std::uint64_t alignment) noexcept;
  /// Those pages (heap::allocator::plan).
  [[nodiscard]] base::result<heap::span_plan> plan_here(std::uint64_t bytes, std::uint64_t alignment) noexcept;
  void settle_here(const heap::span_plan& plan, bool laid) noexcept;
  /// Of a heap with views, for what this node's slices hand out from now on.
  void set_chunk_here(unsigned slots) noexcept;
  [[nodiscard]] base::result<std::uint64_t> size_here(std::uint64_t address) const noexcept;
  [[nodiscard]] base::result<heap::allocation> around_here(std::uint64_t address, bool gap) const noexcept;
  [[nodiscard]] base::result<heap::allocation> allocate_at_here(std::uint64_t address, std::uint64_t bytes) noexcept;
  [[nodiscard]] base::status release_here(std::uint64_t address, bool zero = false) noexcept;
  [[nodiscard]] bool is_used() const noexcept;

  // Checkpoints (restored.cpp).
  void save(std::vector<std::uint64_t>& words) const;
  /// What saved parts, by address, come to in this job. False if they do not make this heap.
  [[nodiscard]] bool load(std::span<const part> parts, std::vector<slice>& slices) const;
  void replace(std::vector<slice>&& slices) noexcept { slices_ = std::move(slices); }

  shared_heap* next = nullptr;  ///< of those that are needed no longer

 private:
  [[nodiscard]] std::unique_ptr<heap::allocator> memory_of(const slice& own) const;
  [[nodiscard]] std::vector<slice> cut(std::uint64_t base, std::uint64_t end, std::uint64_t used_end) const;

  core::region_description about_;
  unsigned nodes_;
  model::node_id self_;
  bool guards_;
  std::uint64_t block_units_;  ///< of a slice
  std::vector<slice> slices_;
};

}  // namespace quire::region
