// SPDX-License-Identifier: BSD-3-Clause
// A network that is not there: messages between hosts take as long as its links make them, around any other transport.
// `quire predict` has it (QUIRE_DELAY), so that nodes decide what they would decide on that network: who asks first,
// what one message brings, which pages go to and fro. It is a message and its payload in the payload of another one,
// with the time when it is due, by the clock that all processes of this machine share; the receiver keeps it until
// then. So nothing waits at a sender, and a node may end when its messages have left.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "transport/transport.hpp"

namespace quire::transport::delayed {

/// Of each node, to those of other hosts. A message is on its way for the latency after its last byte has left.
struct link {
  double latency_us = 0;
  double megabytes_a_second = 0;  ///< 0: no limit
  unsigned nodes_a_host = 1;      ///< node n is on host n / nodes_a_host; within a host nothing is delayed
};

/// "LATENCY_US:MEGABYTES_A_SECOND:NODES_A_HOST", as the option has it. Nothing, if it is something else.
[[nodiscard]] std::optional<link> link_of(std::string_view text);
[[nodiscard]] std::string text_of(const link& how);

/// `inner`, delayed. All nodes of the job must do so: connect() refuses others. QUIRE_SYSTEM without a descriptor. Not
/// for fault context.
[[nodiscard]] base::result<std::unique_ptr<transport>> wrap(std::unique_ptr<transport> inner, const link& how);

}  // namespace quire::transport::delayed
