// SPDX-License-Identifier: BSD-3-Clause
// Mutexes that this node keeps for a moment although another one wants them (src/sync/lock_linger.cpp). Driver's thread
// only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/fault_heap.hpp"

namespace quire::core {

class lingers {
 public:
  lingers() { kept_.reserve(64); }
  [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }

  /// One that was taken meanwhile stays in the list, and does no harm.
  void add(std::uint64_t object, std::uint64_t until_ns) {
    const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const kept& k) { return k.object == object; });
    if (same != kept_.end()) {
      same->until_ns = until_ns;
    } else {
      kept_.push_back({object, until_ns});
    }
  }
  /// One whose time is over `now`, and is no longer kept here; 0 if there is none.
  [[nodiscard]] std::uint64_t take_over(std::uint64_t now) noexcept {
    const auto over = std::find_if(kept_.begin(), kept_.end(), [&](const kept& k) { return k.until_ns <= now; });
    if (over == kept_.end()) return 0;
    const std::uint64_t object = over->object;
    kept_.erase(over);
    return object;
  }

 private:
  struct kept {
    std::uint64_t object, until_ns;
  };
  base::fault_vector<kept> kept_;
};

}  // namespace quire::core
