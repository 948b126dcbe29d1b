// SPDX-License-Identifier: BSD-3-Clause
// All runs of a heap in one tree, in the order of their addresses. A run is a series of pages with one use: free, one
// large object, a span of small ones, or one of minipages. Each node also sums up what its subtree offers, so the
// lowest free run for a size and alignment, and the lowest span with room for a size class, are found in one descent,
// O(log n) expected.
//
// A treap (Seidel and Aragon, Randomized Search Trees, 1996) with links between neighbours. Its shape is no secret
// worth guarding: priorities come from a fixed seed. Called by page_runs and heap with the heap's lock held.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "heap/minipage_span.hpp"
#include "heap/span.hpp"

namespace quire::heap {

inline constexpr unsigned page_shift = 12;
inline constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_shift;
/// Alignments that a run may need: 1, 2, 4, ... 512 pages (4 KiB to 2 MiB), by their power of two.
inline constexpr unsigned alignment_count = 10;

enum class run_use : std::uint8_t { free, object, span, minipages };

/// What a run, or a whole subtree, has to offer.
struct offer {
  std::array<std::uint32_t, alignment_count> aligned_pages{};  ///< longest free series that starts so aligned
  std::uint64_t span_classes = 0;                              ///< one bit a size class: a span has a free slot
  friend bool operator==(const offer&, const offer&) noexcept = default;
};

struct run {
  std::uint64_t first_page = 0;  ///< address / page_bytes
  std::uint64_t page_count = 0;
  run_use use = run_use::free;
  std::uint32_t priority = 0;
  std::unique_ptr<span> objects;             ///< for run_use::span
  std::unique_ptr<minipage_span> minipages;  ///< for run_use::minipages
  run *previous = nullptr, *next = nullptr;
  run *parent = nullptr, *left = nullptr, *right = nullptr;
  offer subtree;

  [[nodiscard]] std::uint64_t end_page() const noexcept { return first_page + page_count; }
  [[nodiscard]] bool contains(std::uint64_t page) const noexcept { return page - first_page < page_count; }
  [[nodiscard]] std::uint64_t address() const noexcept { return first_page << page_shift; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return page_count << page_shift; }
};

class run_tree {
 public:
  run_tree() noexcept = default;
  run_tree(const run_tree&) = delete;
  run_tree& operator=(const run_tree&) = delete;
  ~run_tree();

  /// Adds a free run behind all others. Null when the machine has no memory left; the same for split().
  [[nodiscard]] run* append(std::uint64_t first_page, std::uint64_t page_count) noexcept;
  /// Cuts `lower` before page `at`, which is inside it, and returns the upper part, a free run. Updates `lower`, too.
  [[nodiscard]] run* split(run* lower, std::uint64_t at) noexcept;
  /// Joins the run behind `lower` to it.
  void absorb_next(run* lower) noexcept;
  /// To be called when the use or extent of `changed` has changed, or a span has become full or is so no longer.
  void update(run* changed) noexcept;

  [[nodiscard]] run* find(std::uint64_t page) const noexcept;
  [[nodiscard]] run* lowest_free(std::uint64_t page_count, unsigned alignment_power) const noexcept;
  [[nodiscard]] run* lowest_span(unsigned size_class) const noexcept;
  [[nodiscard]] run* first() const noexcept { return first_; }
  [[nodiscard]] run* last() const noexcept { return last_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Order, links, priorities and offers of the whole tree.
  [[nodiscard]] bool is_valid() const noexcept;

 private:
  [[nodiscard]] run* insert_after(run* before, std::uint64_t first_page, std::uint64_t page_count) noexcept;
  void erase(run* old) noexcept;
  void rotate_up(run* child) noexcept;
  void replace_child(run* parent, run* child, run* by) noexcept;
  [[nodiscard]] std::uint32_t draw_priority() noexcept;

  run *root_ = nullptr, *first_ = nullptr, *last_ = nullptr;
  std::size_t size_ = 0;
  std::uint32_t random_ = 2463534242u;
};

}  // namespace quire::heap
