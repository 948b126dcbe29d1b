// SPDX-License-Identifier: BSD-3-Clause
// Where a region lies in the memory file of its host (settings::host_file). The shared range is at its start. What the
// program had before (quire_region_adopt) is where its address is, counted from the range's base: it has the same
// address on all nodes, so that nobody has to tell.
#pragma once

#include <cstdint>

namespace quire::pool {

/// A file of so many bytes has a place for every address of a program. It takes memory where something is written.
inline constexpr std::uint64_t host_span = std::uint64_t{1} << 47;

[[nodiscard]] constexpr std::uint64_t position_in_host_file(std::uint64_t address, std::uint64_t base) noexcept {
  return (address - base) % host_span;
}

/// Where memory has a limit, a table of the pages of the range follows it (pool/host_holds.hpp): a head, and an entry a
/// page.
inline constexpr std::uint64_t host_table_head = 4096, host_table_entry = 2;

[[nodiscard]] constexpr std::uint64_t host_table_bytes(std::uint64_t range_bytes) noexcept {
  const std::uint64_t entries = range_bytes / 4096 * host_table_entry;
  return host_table_head + (entries + 4095) / 4096 * 4096;
}

}  // namespace quire::pool
