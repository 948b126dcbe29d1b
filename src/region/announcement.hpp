// SPDX-License-Identifier: BSD-3-Clause
// What a node tells all others of pages that it is about to cut into minipages (announcements.hpp), and what that means
// to who hears it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/minipages/minipages.hpp"

namespace quire::region {

/// Travels as it is.
struct announcement {
  std::uint64_t number = 0;  ///< of the question, of the node that asks
  std::uint64_t handle = 0;  ///< of the region
  std::uint64_t address = 0, pages = 0;
  std::uint32_t minipage_bytes = 0, reserved = 0;
};

/// False: it is none.
[[nodiscard]] inline bool read(std::span<const std::byte> value, announcement& into) noexcept {
  if (value.size() != sizeof into) return false;
  std::memcpy(&into, value.data(), sizeof into);
  return into.reserved == 0;
}

/// Pages of a region, by number.
struct page_range {
  std::uint64_t first = 0, count = 0;
};

/// The pages that it means of a region with the dynamic layout; false: none that there could be.
[[nodiscard]] inline bool pages_of(const announcement& what, std::uint64_t base, std::uint64_t bytes, unsigned views,
                                   page_range& into) noexcept {
  constexpr std::uint64_t page = core::minipages::page_bytes;
  const std::uint64_t offset = what.address - base;
  if (what.address < base || offset >= bytes || offset % page != 0) return false;
  if (what.pages == 0 || what.pages > (bytes - offset) / page || !core::minipages::is_size(what.minipage_bytes, views))
    return false;
  into = {offset / page, what.pages};
  return true;
}

/// Whether these pages are whole yet, or divided just so: a plan that did not reach all is announced anew.
[[nodiscard]] inline bool fits(const core::minipages& layout, const page_range& pages,
                               std::uint64_t minipage_bytes) noexcept {
  for (std::uint64_t page = pages.first; page < pages.first + pages.count; ++page) {
    const std::uint64_t now = layout.bytes_of_page(page);
    if (now != 0 && now != minipage_bytes) return false;
  }
  return true;
}

}  // namespace quire::region
