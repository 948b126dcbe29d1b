// SPDX-License-Identifier: BSD-3-Clause
// Consecutive pages cut into slots of one size, none of which crosses a page, and into minipages of as many slots each (minipage_heap.hpp).
// Millipage, section 2.3: the dynamic layout. Called with the heap's lock held; knows offsets into the span, no addresses.
#pragma once

#include <cstdint>

#include "heap/slot_set.hpp"

namespace quire::heap {

/// How objects of one size share minipages. The slots of a page lie one behind the other from its beginning, and so do the minipages.
struct minipage_cut {
  std::uint32_t slot_bytes = 0;  ///< a multiple of 16
  std::uint32_t chunk = 0;       ///< slots a minipage; 0: the page is one sharing unit

  friend bool operator==(const minipage_cut&, const minipage_cut&) noexcept = default;
  [[nodiscard]] constexpr std::uint32_t minipage_bytes() const noexcept { return chunk * slot_bytes; }
  /// Slots a page.
  [[nodiscard]] constexpr std::uint32_t page_slots() const noexcept { return chunk == 0 ? 4096 / slot_bytes : 4096 / minipage_bytes() * chunk; }
};

struct minipage_span {
  minipage_cut cut{};
  std::uint32_t page_slots = 0;  ///< of cut
  slot_set slots{};
  std::uint64_t address = 0;
  bool laid = false;  ///< all nodes know its sharing units
  /// Of those of its cut that are laid and have a free slot.
  minipage_span *previous = nullptr, *next = nullptr;

  [[nodiscard]] std::uint64_t offset_of(std::uint32_t slot) const noexcept {
    return std::uint64_t{slot / page_slots} * 4096 + std::uint64_t{slot % page_slots} * cut.slot_bytes;
  }
  /// The slot that starts at `offset`; slots.slots() if none does.
  [[nodiscard]] std::uint64_t slot_at(std::uint64_t offset) const noexcept {
    const std::uint64_t in_page = offset % 4096, number = in_page / cut.slot_bytes;
    const bool starts = number * cut.slot_bytes == in_page && number < page_slots;
    return starts ? offset / 4096 * page_slots + number : slots.slots();
  }
};

}  // namespace quire::heap
