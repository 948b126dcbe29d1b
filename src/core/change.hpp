// SPDX-License-Identifier: BSD-3-Clause
// What the calls that change a region's consistency, and those that begin and end parallel blocks, have in common (change.cpp,
// block_calls.cpp).
#pragma once

#include <cstdint>

#include "core/collect.hpp"

namespace quire::core {

/// One of the calls that change a region. Nodes must agree on all of it.
struct core::change_call {
  enum class kind { set, begin_block, end_block };
  kind what = kind::set;
  region_slot* region = nullptr;
  quire_consistency to = QUIRE_SEQUENTIAL;
  bool checked = false;
  bool good = false;

  /// Of a call that is not good.
  [[nodiscard]] const char* why_not() const noexcept {
    if (region == nullptr) return "there is no such region, or it is that of quire_malloc(), which keeps its consistency";
    if (what == kind::end_block) return "no parallel block is under way on the region";
    if (region->block != nullptr) return "a parallel block is under way on the region";
    if (what == kind::set && to == QUIRE_SEQUENTIAL) return "a region with QUIRE_DETECT_SCAN cannot have sequential consistency, as its writes cannot be stopped";
    return what == kind::set ? "the consistency is neither QUIRE_SEQUENTIAL nor QUIRE_RELEASE" : "a flag is not known";
  }
  [[nodiscard]] std::int64_t signature() const noexcept {
    if (!good) return 0;
    return static_cast<std::int64_t>(region->about.id) * 16 + static_cast<int>(what) * 4 + (to == QUIRE_RELEASE ? 2 : 0) + (checked ? 1 : 0);
  }
};

/// The heap has too many units to look at them all.
inline region_slot* changeable(region_map& regions, std::uint64_t region) noexcept {
  return region != 0 && region < region_map::max_regions ? regions.slot(model::region_id{static_cast<std::uint16_t>(region)}) : nullptr;
}

}  // namespace quire::core
