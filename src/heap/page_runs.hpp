// SPDX-License-Identifier: BSD-3-Clause
// Hands out runs of pages: the lowest free one that fits (address-ordered first fit, which fragments as little as best
// fit: Johnstone and Wilson, The Memory Fragmentation Problem: Solved?, 1998), so that pages are used again before new
// ones are touched. Pages at and above the frontier were never handed out; below it everything belongs to a run, and no
// two free runs are neighbours. Called by heap with its lock held.
#pragma once

#include <bit>
#include <cstdint>

#include "heap/clean_pages.hpp"
#include "heap/run_tree.hpp"

namespace quire::heap {

inline constexpr std::uint64_t largest_alignment_bytes = page_bytes << (alignment_count - 1);
static_assert(largest_alignment_bytes == 2u << 20);

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t power_of_two) noexcept {
  return (bytes + power_of_two - 1) & ~(power_of_two - 1);
}
/// Of a run whose address has this alignment.
[[nodiscard]] constexpr unsigned alignment_power_of(std::uint64_t alignment) noexcept {
  return alignment <= page_bytes ? 0 : static_cast<unsigned>(std::countr_zero(alignment)) - page_shift;
}

/// What a run that was taken may hold from before: its first `bytes`, but for a part that is zero.
struct dirt {
  std::uint64_t bytes = 0;
  std::uint64_t clean_offset = 0, clean_bytes = 0;
};

class page_runs {
 public:
  page_runs(std::uint64_t first_page, std::uint64_t end_page) noexcept;

  /// A run for one object, or null when there is no room (or no memory for metadata).
  [[nodiscard]] run* take(std::uint64_t page_count, unsigned alignment_power, dirt& left) noexcept;
  /// A run for one object just there. Null where some of these pages are taken, or beyond the end.
  [[nodiscard]] run* take_at(std::uint64_t first_page, std::uint64_t page_count, dirt& left) noexcept;
  /// Frees a run for one object. `zero`: all of its content is.
  void give_back(run* taken, bool zero = false) noexcept;
  /// Grows or shrinks a run where it stands; false when what lies behind it is taken.
  [[nodiscard]] bool resize(run* taken, std::uint64_t page_count) noexcept;

  /// A run of `page_count` behind all others, which was never handed out, taken as one object; moves the frontier. Null
  /// if it does not fit, or without memory.
  [[nodiscard]] run* append_taken(std::uint64_t page_count) noexcept;
  [[nodiscard]] std::uint64_t frontier() const noexcept { return frontier_; }
  [[nodiscard]] std::uint64_t untouched_pages() const noexcept { return end_ - frontier_; }
  [[nodiscard]] run_tree& tree() noexcept { return tree_; }
  [[nodiscard]] const run_tree& tree() const noexcept { return tree_; }
  [[nodiscard]] bool is_valid() const noexcept;

 private:
  [[nodiscard]] run* take(std::uint64_t page_count, unsigned alignment_power) noexcept;
  [[nodiscard]] run* cut(run* free, std::uint64_t first_page, std::uint64_t page_count) noexcept;
  [[nodiscard]] run* reach(std::uint64_t end_page) noexcept;
  [[nodiscard]] dirt take_dirt(const run& taken, std::uint64_t frontier) noexcept;
  [[nodiscard]] run* push_frontier(std::uint64_t page_count, unsigned alignment_power) noexcept;
  void join_free_neighbours(run* free) noexcept;

  const std::uint64_t first_, end_;
  std::uint64_t frontier_;
  run_tree tree_;
  clean_pages clean_;  ///< of free runs below the frontier
};

}  // namespace quire::heap
