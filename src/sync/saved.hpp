// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation objects in a checkpoint. No thread survives a restart, so nobody holds or waits for anything then:
// locks are free, barriers empty; events and semaphores keep what they were.
#pragma once

#include <cstdint>
#include <vector>

#include "sync/object_id.hpp"

namespace quire::sync {

struct saved_object {
  std::uint64_t id = 0;
  std::uint64_t value = 0;  ///< barrier: participants; event: set; semaphore: count
  friend bool operator==(const saved_object&, const saved_object&) noexcept = default;
};

/// Of one node.
struct saved_objects {
  std::uint64_t made = 0;    ///< the highest counter of any object it has made, or may not use again
  std::uint64_t makers = 1;  ///< nodes that may have made objects so far
  std::vector<saved_object> objects{};
};

}  // namespace quire::sync
