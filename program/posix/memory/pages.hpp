// SPDX-License-Identifier: BSD-3-Clause
// Pages of shared memory, as calls of mappings see them, and whether some are closed.
#pragma once

#include <quire/quire.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace quire::program {

inline constexpr std::size_t mapped_page = 4096;
[[nodiscard]] constexpr std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + mapped_page - 1) / mapped_page * mapped_page;
}
[[nodiscard]] inline bool begins_page(const void* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % mapped_page == 0;
}

enum class part : std::uint8_t { none, some, all };

/// Where the region ends that has an address; 0: it is in none.
[[nodiscard]] std::uintptr_t end_of_region(std::uintptr_t at) noexcept;
/// call(first, bytes) for the part of each region, as long as it says QUIRE_OK.
template <class Call>
quire_status for_each_region(void* at, std::size_t bytes, const Call& call) noexcept {
  auto first = reinterpret_cast<std::uintptr_t>(at);
  for (const std::uintptr_t end = first + bytes; first < end;) {
    const std::uintptr_t stop = std::min(end, end_of_region(first));
    if (stop == 0) return QUIRE_BAD_ADDRESS;
    if (const quire_status why = call(reinterpret_cast<void*>(first), stop - first); why != QUIRE_OK) return why;
    first = stop;
  }
  return QUIRE_OK;
}

/// A page of this node is closed, or is about to be; whether one was, at some time. Any thread.
void note_closing() noexcept;
[[nodiscard]] bool was_any_closed() noexcept;
[[nodiscard]] bool any_closed(const void* at, std::size_t bytes) noexcept;

}  // namespace quire::program
