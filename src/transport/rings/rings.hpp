// SPDX-License-Identifier: BSD-3-Clause
// Shared memory for nodes that outlive others: a ring of bytes for each pair and direction (ring.hpp), so that a node
// killed at any moment stops what it says itself, and nothing else. UCX has one queue a receiver: who is killed between
// taking a place in it and filling it stops it for all.
//
// A message becomes visible as a whole, or in parts if it is larger than a ring; then it is put together in memory of
// the receiver's own first. So no payload is half at its place when its sender dies. A node's rings are one file
// without a name, which the senders open by /proc; bells wake.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "transport/transport.hpp"

namespace quire::transport::rings {

inline constexpr unsigned most_nodes = 64;  ///< as of jobs that go on when a node dies

/// QUIRE_UNSUPPORTED, QUIRE_SYSTEM; the reason is logged. Not for fault context.
[[nodiscard]] base::result<std::unique_ptr<transport>> open();

}  // namespace quire::transport::rings
