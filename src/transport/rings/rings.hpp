// SPDX-License-Identifier: BSD-3-Clause
// Shared memory of the nodes of one host: a ring for each pair and direction (ring.hpp). A node's rings are one file
// without a name, which the senders open by /proc; bells wake (bells.hpp). A node that is killed at any moment stops
// what it says itself, and nothing else.
//
// A large payload goes in parts, so that one side puts the next into the ring while the other takes the last out. They
// are put together where the payload belongs, or, where a node is to outlive its sender, in memory of its own first:
// then no payload is half at its place when its sender dies.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "transport/transport.hpp"

namespace quire::transport::rings {

/// For a job of so many nodes. `whole`: no payload begins to land before all of it is there. QUIRE_UNSUPPORTED,
/// QUIRE_SYSTEM; the reason is logged. Not for fault context.
[[nodiscard]] base::result<std::unique_ptr<transport>> open(unsigned nodes, bool whole);

}  // namespace quire::transport::rings
