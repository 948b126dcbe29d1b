// SPDX-License-Identifier: BSD-3-Clause
// What a node hands out of its slice of a heap. There is no free list and no size class: free is what the bitmap of a
// collection says, a bit a granule. Sweeping is to look for the next hole, when one is needed (the lazy sweep of Jones,
// Hosking and Moss, The Garbage Collection Handbook, section 2.5). Objects of at most a quarter of a unit are cut from
// a hole one behind the other and lie in one unit. Larger ones take the first run that is long enough; those of a unit
// and more begin with a unit, if they can.
//
// Pure. Application threads, under a lock of the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gc/bitmap.hpp"
#include "gc/shape.hpp"

namespace quire::gc {

/// Memory for an object.
struct grant {
  std::uint64_t at = 0;     ///< its first granule
  std::uint64_t dirty = 0;  ///< granules from there on that may not be zero
};

/// A run of them.
struct run_grant {
  granule_range range{};
  std::uint64_t dirty = 0;  ///< granules of it, from the first one on, that may not be zero
};

class slice_allocator {
 public:
  slice_allocator(granule_range slice, std::uint64_t granules_a_unit);

  /// Nothing: there is no hole of that size, nor will there be before the next collection.
  [[nodiscard]] std::optional<grant> allocate(std::uint64_t count);
  /// A run of whole units that nobody uses, for another node, or for objects that move: of `wanted` granules, or less,
  /// but at least `least`.
  [[nodiscard]] std::optional<run_grant> take_run(std::uint64_t least, std::uint64_t wanted);
  /// Gives back what was taken and is not used.
  void give_back(std::uint64_t first, std::uint64_t count) noexcept;
  /// A run of another node's slice, until the next collection.
  void borrow(const run_grant& run);

  /// After a collection: what is live. `live` has the bits of the slice, from 0 on. Returns the granules that are free
  /// now and were not before.
  std::uint64_t adopt(bitmap&& live);
  /// The same where the slice has objects of a job before this one: nothing of it is zero.
  void adopt_old(bitmap&& live) {
    fresh_ = size_;
    (void)adopt(std::move(live));
  }
  /// Of objects, and of what was lent.
  [[nodiscard]] std::uint64_t used_granules() const noexcept { return used_ - (hole_end_ - hole_); }
  [[nodiscard]] granule_range slice() const noexcept { return slice_; }
  [[nodiscard]] bool is_used(std::uint64_t granule) const noexcept { return map_.test(granule - slice_.first); }
  /// Whether the counts are right. For tests.
  [[nodiscard]] bool is_valid() const noexcept;

 private:
  [[nodiscard]] bool find_hole(std::uint64_t count);
  [[nodiscard]] bool find_hole_between(std::uint64_t from, std::uint64_t end, std::uint64_t count);
  void leave_hole() noexcept;
  [[nodiscard]] std::optional<grant> allocate_large(std::uint64_t count);
  [[nodiscard]] std::optional<std::uint64_t> find_run(std::uint64_t count, bool at_unit) const;
  [[nodiscard]] std::optional<grant> allocate_borrowed(std::uint64_t count);
  [[nodiscard]] grant take(std::uint64_t at, std::uint64_t count) noexcept;
  [[nodiscard]] std::uint64_t dirty_of(std::uint64_t at, std::uint64_t count) const noexcept {
    return at < fresh_ ? std::min(count, fresh_ - at) : 0;
  }
  /// Of a granule of the slice: the first one of its unit, and the first one of the next.
  [[nodiscard]] std::uint64_t unit_begin(std::uint64_t at) const noexcept {
    return (at + slice_.first) / unit_ * unit_ - slice_.first;
  }

  struct loan {
    std::uint64_t at = 0, end = 0, fresh = 0;
  };

  // Positions are relative to the slice.
  granule_range slice_;
  std::uint64_t unit_;  ///< granules of one
  std::uint64_t size_;
  bitmap map_;                             ///< set: used, or in the hole
  std::uint64_t used_ = 0;                 ///< bits that are set
  std::uint64_t hole_ = 0, hole_end_ = 0;  ///< what the next small object is cut from
  std::uint64_t hole_fresh_ = 0;           ///< from here on it is zero
  std::uint64_t cursor_ = 0;               ///< where the search for a hole goes on
  std::uint64_t fresh_ = 0;                ///< from here on nothing was ever handed out
  std::uint64_t no_small_ = ~std::uint64_t{0}, no_large_ = ~std::uint64_t{0};  ///< of so many, or more, there is none
  std::vector<loan> loans_{};
};

}  // namespace quire::gc
