// SPDX-License-Identifier: BSD-3-Clause
// The allocator of a heap where each small object is a sharing unit of its own, a minipage (Millipage, sections 2.3
// and 3.2: the dynamic layout). As heap.hpp it never touches the memory that it hands out. Addresses are natural ones:
// where the memory lies as it is in the pages, one byte after the other.
//
// Objects up to 2048 bytes have slots of exactly their size, rounded up to 16 bytes. As a page has at most `views`
// minipages, a slot has at least a page's part of that. No slot crosses a page. All slots of a page have one size and
// belong to minipages of one size; that is decided when a span of pages is planned, and never changes: the span stays
// one, though nothing lives in it. So it takes only pages that were never handed out. Before the first address of a
// span is handed out all nodes have to know its minipages. That takes messages, and nobody waits here: allocate() says
// QUIRE_BUSY, the caller takes a plan, has it announced, and settles it.
//
// Larger objects are runs of pages, each page a sharing unit. When no page is left that was never handed out, small
// ones are slots of such pages.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "base/status.hpp"
#include "heap/allocator.hpp"
#include "heap/minipage_span.hpp"
#include "heap/page_runs.hpp"

namespace quire::heap {

inline constexpr std::uint64_t largest_minipage_bytes = 2048;
inline constexpr unsigned most_views = 256;
inline constexpr unsigned largest_chunk = 128;

class minipage_heap final : public allocator {
 public:
  /// Hands out the whole pages of [base, base + size), less than 16 TiB. 1 to 256 views. `guards`: to find accesses
  /// past objects. Each small object lies alone at the end of a page, and chunks are 1.
  minipage_heap(std::uint64_t base, std::uint64_t size, unsigned views, bool guards = false) noexcept;

  /// Alignments of a page and less are the same for what is larger than 2048 bytes.
  [[nodiscard]] base::result<allocation> allocate(std::uint64_t bytes, std::uint64_t alignment = 16) noexcept override;
  base::status release(std::uint64_t address, bool zero = false) noexcept override;
  /// A small object keeps its slot when it shrinks, a large one at least a page.
  base::status try_resize(std::uint64_t address, std::uint64_t bytes) noexcept override;
  [[nodiscard]] base::result<std::uint64_t> size_of(std::uint64_t address) const noexcept override;
  [[nodiscard]] base::result<allocation> around(std::uint64_t address) const noexcept override;

  [[nodiscard]] base::result<span_plan> plan(std::uint64_t bytes, std::uint64_t alignment) noexcept override;
  void settle(const span_plan& planned, bool laid) noexcept override;

  /// From now on so many consecutive slots, 1 to 128, make a minipage; where they have more than 2048 bytes, the page
  /// is one sharing unit. What is allocated already stays what it is.
  void set_chunk(unsigned slots) noexcept override;

  void save(std::vector<std::uint64_t>& words) const override;
  [[nodiscard]] bool load(std::span<const std::uint64_t>& words) override;

  [[nodiscard]] heap_numbers numbers() const noexcept override;
  [[nodiscard]] bool is_valid() const noexcept override;

 private:
  /// All spans of one cut.
  struct shelf {
    minipage_span *first = nullptr, *last = nullptr;  ///< with room, as they came to have it
    minipage_span* planned = nullptr;                 ///< not laid yet
    bool under_way = false;                           ///< somebody has the plan
    std::uint64_t next_pages = 0;                     ///< of the next span; 0: not decided
  };
  /// Where an address leads: a run, and for a small object the number of its slot. `in` is null for a bad address.
  struct place {
    run* in = nullptr;
    std::uint64_t slot = 0;
    [[nodiscard]] std::uint64_t bytes() const noexcept;
  };

  [[nodiscard]] bool takes(std::uint64_t bytes, std::uint64_t alignment) const noexcept;
  [[nodiscard]] minipage_cut cut_for(std::uint64_t bytes, std::uint64_t alignment) const noexcept;
  [[nodiscard]] shelf& shelf_of(const minipage_cut& cut) noexcept;
  [[nodiscard]] const shelf& shelf_of(const minipage_cut& cut) const noexcept;
  [[nodiscard]] place find_object(std::uint64_t address) const noexcept;
  [[nodiscard]] base::result<allocation> allocate_small(const minipage_cut& cut) noexcept;
  [[nodiscard]] base::result<allocation> allocate_in_page_units(minipage_cut cut) noexcept;
  [[nodiscard]] base::result<allocation> allocate_large(std::uint64_t bytes, std::uint64_t alignment) noexcept;
  [[nodiscard]] allocation take_slot(shelf& from) noexcept;
  [[nodiscard]] std::uint64_t next_span_pages(const shelf& of) const noexcept;
  [[nodiscard]] minipage_span* make_span(const minipage_cut& cut, run* pages, std::uint64_t dirty_bytes) noexcept;
  static void put_on(shelf& to, minipage_span* with_room) noexcept;
  static void take_off(shelf& from, minipage_span* full) noexcept;
  [[nodiscard]] bool load_run(run& at, std::uint64_t use, std::span<const std::uint64_t>& words);
  [[nodiscard]] bool span_is_valid(const run& at) const noexcept;
  [[nodiscard]] bool shelves_are_valid() const noexcept;

  /// By size of slots in steps of 16 bytes, then by chunk: as many as have at most 2048 bytes together, and 0.
  static constexpr unsigned steps = largest_minipage_bytes / 16;
  static constexpr std::array<std::uint16_t, steps + 2> first_shelf = [] {
    std::array<std::uint16_t, steps + 2> first{};
    for (unsigned step = 1; step <= steps; ++step)
      first[step + 1] = static_cast<std::uint16_t>(first[step] + steps / step + 1);
    return first;
  }();

  const std::uint64_t base_, end_;
  const std::uint64_t least_minipage_bytes_;
  const bool guards_;
  mutable std::mutex mutex_;
  page_runs pages_;
  std::uint32_t chunk_ = 1;
  std::uint64_t live_bytes_ = 0, live_objects_ = 0;
  std::array<shelf, first_shelf[steps + 1]> shelves_{};
};

}  // namespace quire::heap
