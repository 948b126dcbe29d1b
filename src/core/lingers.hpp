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
  /// When somebody has to look next; 0 if he was told, or there is nothing to look at. A mutex that is taken and freed
  /// often moves its time on each time: to set a clock costs more than all the rest of that.
  [[nodiscard]] std::uint64_t next_look(std::uint64_t now) noexcept { return told_ns_ > now ? 0 : end_of_first(); }
  /// The same, told or not.
  [[nodiscard]] std::uint64_t end_of_first() noexcept {
    if (kept_.empty()) return 0;
    const auto first = std::min_element(kept_.begin(), kept_.end(),
                                        [](const kept& a, const kept& b) { return a.until_ns < b.until_ns; });
    return told_ns_ = first->until_ns;
  }

 private:
  struct kept {
    std::uint64_t object, until_ns;
  };
  base::fault_vector<kept> kept_;
  std::uint64_t told_ns_ = 0;
};

}  // namespace quire::core
