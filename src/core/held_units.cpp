// SPDX-License-Identifier: BSD-3-Clause
#include "core/held_units.hpp"

#include "core/core.hpp"
#include "model/action.hpp"

namespace quire::core {

void held_units::add(region_slot& r, std::uint64_t unit, std::uint64_t level) noexcept {
  constexpr std::uint64_t shortest_ns = 8000;
  all_.push_back({&r, unit, core_.now() + (shortest_ns << level)});
}

bool held_units::end() noexcept {
  bool any = false;
  for (std::size_t i = 0; i < all_.size();) {
    const held h = all_[i];
    if (core_.now() < h.until_ns && !h.region->change.frozen) {
      ++i;
      continue;
    }
    all_[i] = all_.back();
    all_.pop_back();
    core_.actions.clear();
    h.region->machine->on_hold_over(h.unit, core_.actions);
    core_.take_step(*h.region);
    core_.perform_steps();
    any = true;
  }
  return any;
}

}  // namespace quire::core
