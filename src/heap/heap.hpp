// SPDX-License-Identifier: BSD-3-Clause
// The allocator of the shared heap: hands out addresses of the range that one node owns. All it knows is kept in
// private memory; it never reads or writes the memory that it hands out, so it never faults. Metadata are proportional
// to what is live, never to the range.
//
// Objects up to 3840 bytes live in spans, each of one size class (size_classes.hpp, span.hpp). A span covers whole
// sharing units, so that no unit holds two classes, nor small objects beside large ones. Larger objects are runs of
// pages of their own (page_runs.hpp). The lowest address that fits is taken, and fresh memory only when nothing fits.
//
// Called by region and api, from application threads and from the service thread (a free that came from another node),
// never in fault context. Thread-safe: one mutex, held for O(log n) steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "heap/allocator.hpp"
#include "heap/page_runs.hpp"
#include "heap/size_classes.hpp"

namespace quire::heap {

/// Of a saved heap, without loading it: where it began, what it could hand out, how far it was used, and which pages it
/// had cut into minipages.
struct saved_extent {
  std::uint64_t base = 0, end = 0, reached_end = 0;
  std::vector<span_plan> cuts{};
};
/// Takes the words of one saved heap from the front. False if they make no sense.
[[nodiscard]] bool skip_saved(std::span<const std::uint64_t>& words, saved_extent& about) noexcept;

class heap final : public allocator {
 public:
  /// Hands out the whole pages of [base, base + size), less than 16 TiB. `unit_bytes` is the sharing unit: a power of
  /// two, 4 KiB to 2 MiB. Takes no memory worth speaking of until used.
  heap(std::uint64_t base, std::uint64_t size, std::uint64_t unit_bytes) noexcept;

  /// 16 and less are the same alignment, as is a page and less for what is larger than 3840 bytes.
  [[nodiscard]] base::result<allocation> allocate(std::uint64_t bytes, std::uint64_t alignment = 16) noexcept override;
  base::status release(std::uint64_t address, bool zero = false) noexcept override;
  /// A small object keeps its slot when it shrinks, a large one at least a page.
  base::status try_resize(std::uint64_t address, std::uint64_t bytes) noexcept override;
  [[nodiscard]] base::result<std::uint64_t> size_of(std::uint64_t address) const noexcept override;
  [[nodiscard]] base::result<allocation> around(std::uint64_t address) const noexcept override;
  [[nodiscard]] base::result<allocation> allocate_at(std::uint64_t address, std::uint64_t bytes) noexcept override;
  [[nodiscard]] base::result<allocation> gap_around(std::uint64_t address) const noexcept override;

  void save(std::vector<std::uint64_t>& words) const override;
  [[nodiscard]] bool load(std::span<const std::uint64_t>& words) override;

  [[nodiscard]] std::uint64_t base() const noexcept { return base_; }
  [[nodiscard]] heap_numbers numbers() const noexcept override;
  [[nodiscard]] bool is_valid() const noexcept override;

 private:
  /// Where an address leads: a run, and for a small object the offset in its span. `in` is null for a bad address.
  struct place {
    run* in = nullptr;
    std::uint64_t offset = 0;
    [[nodiscard]] std::uint64_t bytes() const noexcept;
  };

  [[nodiscard]] run* find_run(std::uint64_t address) const noexcept;
  [[nodiscard]] place find_object(std::uint64_t address) const noexcept;
  [[nodiscard]] base::result<allocation> allocate_small(unsigned size_class) noexcept;
  [[nodiscard]] base::result<allocation> allocate_large(std::uint64_t bytes, std::uint64_t alignment) noexcept;
  [[nodiscard]] run* take_run(std::uint64_t page_count, unsigned alignment_power, dirt& left) noexcept;
  [[nodiscard]] run* make_span(unsigned size_class) noexcept;
  [[nodiscard]] run* make_span(unsigned size_class, std::uint64_t bytes) noexcept;
  void release_small(run* in, std::uint64_t offset) noexcept;
  void keep_or_give_back(run* empty) noexcept;
  void give_back_span(run* empty) noexcept;
  bool give_back_spares() noexcept;
  [[nodiscard]] bool classes_are_valid() const noexcept;
  [[nodiscard]] bool load_run(run& at, std::uint64_t use, std::span<const std::uint64_t>& words);

  static constexpr unsigned cached_blocks = 1024;
  static constexpr unsigned cached_block_shift = 16;
  [[nodiscard]] run*& cached(std::uint64_t address) const noexcept {
    return cache_[(address >> cached_block_shift) % cached_blocks];
  }

  const std::uint64_t base_, end_, unit_bytes_;
  mutable std::mutex mutex_;
  page_runs pages_;
  std::uint64_t live_bytes_ = 0, live_objects_ = 0;
  /// By size class: the lowest span with room, if known; and the one empty span that is kept, so that a single object
  /// allocated and freed in turn does not make a span each time.
  std::array<run*, size_class_count> current_{}, spare_{};
  /// Spans found lately, by block of 64 KiB: spares most frees the way down the tree.
  mutable std::array<run*, cached_blocks> cache_{};
};

}  // namespace quire::heap
