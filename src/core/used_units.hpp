// SPDX-License-Identifier: BSD-3-Clause
// The units of a region that this node may know something of. Driver's thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/region_slot.hpp"
#include "os/memory.hpp"
#include "os/presence.hpp"

namespace quire::core {

/// Calls f(unit) for units that this node may know something of; of a region of terabytes only those whose tables were
/// used.
template <class F>
void each_used_unit(region_slot& r, F f) {
  constexpr std::uint64_t chunk = 4096, few = 16 * chunk;
  const auto used = r.machine->used();
  if (used.first() >= used.end()) return;
  const std::uint64_t end = used.end();
  if (end - used.first() <= few) {
    for (std::uint64_t unit = used.first(); unit < end; ++unit) f(unit);
    return;
  }
  const std::uint64_t first = used.first() / chunk * chunk;
  std::vector<bool> present((end - first) / chunk + 1);
  for (const model::unit_table& table : r.machine->losses().tables()) {
    const auto* const at = static_cast<const std::byte*>(table.entries);
    const std::size_t each = table.bytes_of_entry;
    const std::size_t from = first * each / os::page_bytes * os::page_bytes, to = end * each;
    os::for_each_present(at + from, to - from, [&](std::size_t offset, std::size_t bytes) {
      const std::uint64_t begins = std::max((from + offset) / each, first),
                          ends = std::min((from + offset + bytes) / each + 1, end);
      for (std::uint64_t u = begins; u < ends; u = (u / chunk + 1) * chunk) present[(u - first) / chunk] = true;
    });
  }
  for (std::size_t c = 0; c < present.size(); ++c) {
    const std::uint64_t from = std::max(first + c * chunk, used.first()), to = std::min(first + (c + 1) * chunk, end);
    for (std::uint64_t unit = from; present[c] && unit < to; ++unit) f(unit);
  }
}

}  // namespace quire::core
