// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace quire::model {

/// What became of a fault.
enum class fault_outcome : std::uint8_t {
  local,    ///< the node had the right already; permission is among the actions
  started,  ///< a request is on its way; the thread waits for `wake`
  joined,   ///< somebody has asked already (a fault in race); the thread waits for `wake`
  lost,     ///< nobody has the unit any more: its only copy was on a node that is dead
  refused,  ///< only of a pin: this node has pinned as many units as it may
};

}  // namespace quire::model
