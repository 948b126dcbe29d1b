// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/stops.hpp"

#include <algorithm>

namespace quire::bootstrap::launcher {

/// What passed before a node was first seen stopped does not count: it may have been running.
int stops::look(std::uint64_t now) noexcept {
  if (limit_ns_ == 0) return -1;
  const std::uint64_t passed = std::min(now - looked_, step_ns() + step_ns() / 2);
  looked_ = now;
  int found = -1;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    auto& one = nodes_[i];
    if (!one.stopped) continue;
    if (one.seen) one.for_ns += passed;
    one.seen = true;
    if (found < 0 && one.for_ns >= limit_ns_) found = static_cast<int>(i);
  }
  return found;
}

}  // namespace quire::bootstrap::launcher
