// SPDX-License-Identifier: BSD-3-Clause
// What nodes decide together beside memory and locks: names.hpp, threads.hpp, containers.hpp (tables, each on one node)
// container_call.hpp, container_making.hpp and code_call.hpp (the steps of a thread), checkpoint_call.hpp,
// collection_call.hpp and adoption.hpp (of all nodes in step). README.md has their promises.
//
// Here is what tables say: answers to requests (core::ask()), in order. Who calls a machine sends them.
#pragma once

#include <quire/quire.h>

#include <cstdint>

#include "base/fault_heap.hpp"
#include "model/message.hpp"

namespace quire::services {

using model::message;
using model::node_id;

/// Ends the call that has sent `request`: with a status, and two numbers.
struct answer {
  message request{};
  quire_status why = QUIRE_OK;
  std::uint64_t a = 0, b = 0;
};
using answers = base::fault_vector<answer>;

/// Whether both are of one call: its node and its token.
[[nodiscard]] constexpr bool is_same_call(const message& one, const message& other) noexcept {
  return one.requester == other.requester && one.token == other.token;
}

}  // namespace quire::services
