// SPDX-License-Identifier: BSD-3-Clause
// Several nodes on each of several hosts: two transports in one. Messages between nodes of one host go through the one
// within, all others through the one across. Between two nodes it is always the same one, so order is kept.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "transport/transport.hpp"

namespace quire::transport::hosts {

/// `host`: a number that the nodes of a host have in common, and no others. `within`: none for a node that has no
/// shared memory for messages, or is alone on its host. All nodes of the job do this. Not for fault context.
[[nodiscard]] base::result<std::unique_ptr<transport>> join(std::unique_ptr<transport> within,
                                                            std::unique_ptr<transport> across, std::uint64_t host);

}  // namespace quire::transport::hosts
