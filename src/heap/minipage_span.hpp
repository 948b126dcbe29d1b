// SPDX-License-Identifier: BSD-3-Clause
// Consecutive pages cut into slots of one size, none of which crosses a page, and into minipages of as many slots each
// (minipage_heap.hpp). Millipage, section 2.3: the dynamic layout. Called with the heap's lock held; knows offsets into
// the span, no addresses.
#pragma once

#include <cstdint>

#include "heap/slot_set.hpp"

namespace quire::heap {

/// How objects of one size share minipages. The slots of a page lie one behind the other from its beginning, and so do
/// the minipages.
struct minipage_cut {
  std::uint32_t slot_bytes = 0;  ///< a multiple of 16
  std::uint32_t chunk = 0;       ///< slots a minipage; 0: the page is one sharing unit
  /// Not 0: each slot has two pages for itself. It is the end of the first, which has minipages of so many bytes, and
  /// its view shows nothing behind it.
  std::uint32_t alone_bytes = 0;

  friend bool operator==(const minipage_cut&, const minipage_cut&) noexcept = default;
  [[nodiscard]] constexpr std::uint32_t minipage_bytes() const noexcept {
    return alone_bytes != 0 ? alone_bytes : chunk * slot_bytes;
  }
  /// Pages that are cut alike, one group of them as the next.
  [[nodiscard]] constexpr std::uint32_t group_pages() const noexcept { return alone_bytes != 0 ? 2 : 1; }
  /// Slots of such a group.
  [[nodiscard]] constexpr std::uint32_t group_slots() const noexcept {
    return alone_bytes != 0 ? 1 : chunk == 0 ? 4096 / slot_bytes : 4096 / minipage_bytes() * chunk;
  }
  /// Where the first of them begins.
  [[nodiscard]] constexpr std::uint32_t first_offset() const noexcept {
    return alone_bytes != 0 ? 4096 - slot_bytes : 0;
  }
};

struct minipage_span {
  minipage_cut cut{};
  std::uint32_t group_slots = 0, group_bytes = 0;  ///< of cut
  slot_set slots{};
  std::uint64_t address = 0;
  bool laid = false;  ///< all nodes know its sharing units
  /// Of those of its cut that are laid and have a free slot.
  minipage_span *previous = nullptr, *next = nullptr;

  [[nodiscard]] std::uint64_t offset_of(std::uint32_t slot) const noexcept {
    return std::uint64_t{slot / group_slots} * group_bytes + cut.first_offset() +
           std::uint64_t{slot % group_slots} * cut.slot_bytes;
  }
  /// The slot that has the byte at `offset`; slots.slots() if none does.
  [[nodiscard]] std::uint64_t slot_under(std::uint64_t offset) const noexcept {
    const std::uint64_t in_group = offset % group_bytes, first = cut.first_offset(),
                        number = (in_group - first) / cut.slot_bytes;
    const std::uint64_t slot = offset / group_bytes * group_slots + number;
    return in_group >= first && number < group_slots && slot < slots.slots() ? slot : slots.slots();
  }
  /// The slot that starts there; slots.slots() if none does.
  [[nodiscard]] std::uint64_t slot_at(std::uint64_t offset) const noexcept {
    const std::uint64_t slot = slot_under(offset);
    return slot != slots.slots() && offset_of(static_cast<std::uint32_t>(slot)) == offset ? slot : slots.slots();
  }
};

}  // namespace quire::heap
