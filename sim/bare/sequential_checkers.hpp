// SPDX-License-Identifier: BSD-3-Clause
// What must hold, whatever the protocol does inside. The checkers know views, frames, rights and the directory; they
// share no code with the machines. Each returns what is wrong in one line, or an empty string.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "model/action.hpp"
#include "model/ids.hpp"

namespace quire::sim {

class cluster;

/// After every action: a unit that one node may write is mapped nowhere else.
[[nodiscard]] std::string check_views(const cluster& c, std::uint64_t unit);
/// After every action: a unit that a thread has pinned is its node's alone, and may be written there.
[[nodiscard]] std::string check_pins(const cluster& c, std::uint64_t unit);
/// After every step: the machine's own invariants, and its idea of the view.
[[nodiscard]] std::string check_node(const cluster& c, model::node_id node, std::uint64_t unit);
/// After every step, if no request of the unit is being served: who has a right is in the copyset, the owner has a
/// copy, a writer is the only one, all copies are alike.
[[nodiscard]] std::string check_directory(const cluster& c, std::uint64_t unit);
/// What its manager takes for clean nobody may write, and the store has it, or will have it when the flush that is
/// under way ends.
[[nodiscard]] std::string check_store(const cluster& c, std::uint64_t unit);
/// No survivor has the unit, and the dead had to do with it.
[[nodiscard]] std::string check_lost(const cluster& c, std::uint64_t unit);
/// Before content leaves a node: nobody there can write to it any more.
[[nodiscard]] std::string check_before_send(const cluster& c, model::node_id node, const model::action& a);
/// When content arrives: the sender's frame has not changed since it was sent (transports send from the frame itself).
[[nodiscard]] std::string check_payload(const cluster& c, const model::message& m,
                                        std::span<const std::uint64_t> payload);
/// The same, where nodes of one host have a frame together: while threads of one may look at it, it is what they have
/// seen; and a writer's is never what comes.
[[nodiscard]] std::string check_landing(const cluster& c, model::node_id to, std::uint64_t unit,
                                        std::span<const std::uint64_t> payload);
/// With replicas, after every action: each acknowledged write is at two living nodes, of two hosts where two have
/// nodes.
[[nodiscard]] std::string check_copies(const cluster& c);
/// A push that is reported as done: everybody has a copy.
[[nodiscard]] std::string check_pushed(const cluster& c, std::uint64_t unit);
/// When nothing is left to happen: nobody waits, nothing is pending or queued, and all of the above.
[[nodiscard]] std::string check_quiet(const cluster& c);

}  // namespace quire::sim
