// SPDX-License-Identifier: BSD-3-Clause
// The messages of synchronisation, within model::message_kind from sync_first on. Fields: unit = object, token = ticket
// of the waiting call on its own node, operation = sync::operation or a status, the rest as said here.
#pragma once

#include <cstdint>

#include "model/message.hpp"

namespace quire::sync {

enum class kind : std::uint8_t {
  // Objects that their home serves: rwlock, condition, event, semaphore; and rare questions about a mutex.
  request = 0,    ///< node -> home; a = operand, b = 1: do not wait. Without a ticket nobody waits for the reply
  reply,          ///< home -> node; operation = status
  queued,         ///< home -> node: the wait is in the condition's queue, the mutex may be released
  cancel,         ///< node -> home: the time of a queued request ran out
  cancel_missed,  ///< home -> node: it is not in the queue
  // Mutex: one right to lock (its token) that moves between nodes.
  lock_request,  ///< node -> home; b = 1: only if it is free
  lock_pass,     ///< home -> node with the right: give it to `requester`; b = 1: only if it is free
  lock_grant,    ///< node with the right -> requester: here it is; b = 1: settled, the home knows
  lock_arrived,  ///< requester -> home: it came (not after a settled grant)
  lock_refused,  ///< home, or the node with the right -> requester; operation = status
  lock_kept,     ///< node with the right -> home: it is not free, the requester knows
  lock_revoke,   ///< home -> node with the right: the mutex is destroyed
  lock_revoked,  ///< and back: nobody waits for it here any more
  // Barrier for a number of threads.
  barrier_arrive,   ///< node -> home: one more thread of this node waits
  barrier_release,  ///< home -> node: the `a` threads that have waited longest there go on; operation = status
  // Groups, of which the job is one: up and down a tree of their nodes. unit = group (0: the job), a = what was called,
  // b = round,
  // c = some of `round_bit`.
  gather,      ///< child -> parent; operation = status of the subtree; payload = its combined value
  spread,      ///< parent -> child; operation = status; payload = result
  piece_up,    ///< child -> parent; a = number of the piece; payload = the subtree's part of it, if it has one
  piece_down,  ///< parent -> child; a = number of the piece; payload = its result
  // A node of the job is dead, and the others go on (README.md, Deaths).
  survey,  ///< everyone of a group -> everyone; b = its rounds that have ended here, operation, payload: of the last
  lock_survives,  ///< node with the right -> home
  last = lock_survives,
};
static_assert(static_cast<int>(kind::last) <=
              static_cast<int>(model::message_kind::sync_last) - static_cast<int>(model::message_kind::sync_first));

/// Of gather and spread.
namespace round_bit {
inline constexpr std::uint64_t root =
    1;  ///< spread: the sender is the tree's root, whose own contribution leaves with the result
inline constexpr std::uint64_t whole = 2;  ///< every node has a thread in the group: the end of the round is an epoch
}  // namespace round_bit

[[nodiscard]] constexpr model::message_kind message_kind_of(kind k) noexcept {
  return static_cast<model::message_kind>(static_cast<std::uint8_t>(model::message_kind::sync_first) +
                                          static_cast<std::uint8_t>(k));
}
/// Only for kinds from sync_first to sync_last.
[[nodiscard]] constexpr kind kind_of(model::message_kind k) noexcept {
  return static_cast<kind>(static_cast<std::uint8_t>(k) - static_cast<std::uint8_t>(model::message_kind::sync_first));
}

[[nodiscard]] constexpr bool is_piece(kind k) noexcept { return k == kind::piece_up || k == kind::piece_down; }
[[nodiscard]] constexpr bool is_of_groups(kind k) noexcept { return k >= kind::gather && k <= kind::survey; }

}  // namespace quire::sync
