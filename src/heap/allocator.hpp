// SPDX-License-Identifier: BSD-3-Clause
// What its users know of a heap, whichever it is: it hands out addresses of a range that one node owns. There are two:
// heap.hpp, whose sharing units are whole pages or more, and minipage_heap.hpp, where each small object is a sharing
// unit of its own.
//
// Called by region and api, from application threads and from the service thread, never in fault context. Thread-safe,
// and nothing waits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "heap/page_runs.hpp"

namespace quire::heap {

/// What allocate() gave.
struct allocation {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  ///< usable, at least what was asked for
  /// The first `dirty_bytes` may have been handed out before. What follows never was, or was zero when it was freed: if
  /// the range was zero at first, it still is. So is the part from `clean_offset` on.
  std::uint64_t dirty_bytes = 0;
  std::uint64_t clean_offset = 0, clean_bytes = 0;

  allocation() noexcept = default;
  allocation(std::uint64_t at, std::uint64_t count, std::uint64_t dirty) noexcept
      : address(at), bytes(count), dirty_bytes(dirty) {}
  allocation(std::uint64_t at, std::uint64_t count, const dirt& left) noexcept
      : address(at),
        bytes(count),
        dirty_bytes(left.bytes),
        clean_offset(left.clean_offset),
        clean_bytes(left.clean_bytes) {}
};

struct heap_numbers {
  std::uint64_t live_bytes = 0;  ///< usable bytes of all live allocations
  std::uint64_t live_objects = 0;
  std::uint64_t runs = 0;           ///< large objects, spans, free ranges between them: what metadata are kept of
  std::uint64_t reached_bytes = 0;  ///< from the base to the highest page that was ever handed out
};

/// Pages that are to be cut into sharing units. All nodes have to know that before an address of them is handed out.
struct span_plan {
  std::uint64_t address = 0;
  std::uint64_t pages = 0;
  std::uint32_t minipage_bytes = 0;
};

class allocator {
 public:
  virtual ~allocator() = default;

  /// Alignment: a power of two up to 2 MiB. QUIRE_INVALID for a bad alignment, size 0 or a size above that of the
  /// range; QUIRE_NO_MEMORY when no free range is long enough, or the machine has no memory for metadata; QUIRE_BUSY
  /// when pages have to be laid out first (plan()).
  [[nodiscard]] virtual base::result<allocation> allocate(std::uint64_t bytes, std::uint64_t alignment) noexcept = 0;

  /// QUIRE_BAD_ADDRESS for anything but the start of a live allocation. `zero`: all of its content is.
  virtual base::status release(std::uint64_t address, bool zero = false) noexcept = 0;

  /// Makes an allocation larger or smaller where it stands. QUIRE_NO_MEMORY when it cannot grow there; then nothing has
  /// changed, and the caller moves it. QUIRE_BAD_ADDRESS, QUIRE_INVALID as above.
  virtual base::status try_resize(std::uint64_t address, std::uint64_t bytes) noexcept = 0;

  /// Usable bytes of the allocation that starts at `address`, or QUIRE_BAD_ADDRESS.
  [[nodiscard]] virtual base::result<std::uint64_t> size_of(std::uint64_t address) const noexcept = 0;

  /// The allocation that has the byte at `address`: where it begins, and its usable bytes. The place of a small object
  /// is told when it has been freed, too. QUIRE_BAD_ADDRESS if none has it.
  [[nodiscard]] virtual base::result<allocation> around(std::uint64_t address) const noexcept = 0;

  // Of heaps whose sharing units are whole pages; the others say QUIRE_UNSUPPORTED.
  /// An allocation of the whole pages from `address` on. QUIRE_EXISTS where not all of them are free; QUIRE_INVALID for
  /// none, or for what is not whole pages; QUIRE_NO_MEMORY for metadata.
  [[nodiscard]] virtual base::result<allocation> allocate_at(std::uint64_t, std::uint64_t) noexcept {
    return QUIRE_UNSUPPORTED;
  }
  /// The free pages that have the byte at `address`, up to the next allocations. QUIRE_BAD_ADDRESS if it is not free.
  [[nodiscard]] virtual base::result<allocation> gap_around(std::uint64_t) const noexcept { return QUIRE_UNSUPPORTED; }

  // Of heaps with minipages, whose allocate() may say QUIRE_BUSY.
  /// Pages for such an allocation. The caller tells all nodes, then settle()s the plan, then allocates again.
  /// QUIRE_BUSY when somebody else has been given that plan and has not settled it: allocate when that is done.
  /// QUIRE_NO_MEMORY when there are no such pages, or no memory for metadata: allocate() knows better now.
  [[nodiscard]] virtual base::result<span_plan> plan(std::uint64_t, std::uint64_t) noexcept { return QUIRE_NO_MEMORY; }
  /// `laid`: all nodes know. Else none of its addresses is handed out, and the next plan() for such an allocation gives
  /// the same pages again.
  virtual void settle(const span_plan&, bool) noexcept {}
  /// So many objects share a sharing unit of what is laid out from now on.
  virtual void set_chunk(unsigned) noexcept {}

  // Checkpoints (saved.cpp).
  /// Appends all that is known, as words.
  virtual void save(std::vector<std::uint64_t>& words) const = 0;
  /// On a heap that was never used: goes on from what another one of its kind has saved that began at the same address.
  /// It may be shorter or longer than that was, but reaches as far as it was used. Takes its words from the front.
  /// False for words that make no sense, and without memory; the heap is of no use then. All nodes know the minipages
  /// of what was saved (saved_extent::cuts).
  [[nodiscard]] virtual bool load(std::span<const std::uint64_t>& words) = 0;

  [[nodiscard]] virtual heap_numbers numbers() const noexcept = 0;
  /// Audit of the whole structure, for tests: O(n log n).
  [[nodiscard]] virtual bool is_valid() const noexcept = 0;
};

}  // namespace quire::heap
