// SPDX-License-Identifier: BSD-3-Clause
// Units that threads here have lost unused: the manager hears a little later that they have come, so that the threads
// can use them (Mirage's delta). Sequential consistency. Driver's thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/fault_heap.hpp"
#include "core/region_slot.hpp"

namespace quire::core {

class core;

class held_units {
 public:
  explicit held_units(core& node) : core_(node) { all_.reserve(256); }

  /// `level`: how often in a row the unit was lost unused.
  void add(region_slot& r, std::uint64_t unit, std::uint64_t level) noexcept;
  /// Managers hear of those whose time is over, or whose region is frozen. True if there were any.
  bool end() noexcept;
  void forget() noexcept { all_.clear(); }
  void forget(const region_slot& r) noexcept {
    std::erase_if(all_, [&](const held& h) { return h.region == &r; });
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] bool has_any_of(const region_slot& r) const noexcept {
    return std::any_of(all_.begin(), all_.end(), [&](const held& h) { return h.region == &r; });
  }

 private:
  struct held {
    region_slot* region;
    std::uint64_t unit;
    std::uint64_t until_ns;
  };
  core& core_;
  base::fault_vector<held> all_{};
};

}  // namespace quire::core
