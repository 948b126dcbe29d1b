// SPDX-License-Identifier: BSD-3-Clause
// What the machines of a node share that have sequential consistency: requests that wait at managers, and the rounds of
// replicas.
#pragma once

#include "directory/request_queue.hpp"
#include "protocol/contract/domain.hpp"
#include "protocol/sequential/replicas.hpp"

namespace quire::sequential {

struct domain final : protocol::domain {
  directory::request_pool requests{};
  replica_rounds rounds{};
};

}  // namespace quire::sequential
