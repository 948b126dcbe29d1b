// SPDX-License-Identifier: BSD-3-Clause
// The one message of Quire: 64 bytes, a cache line, plus at most one payload (the content of consecutive units, or a
// value). Machines make and take these; src/wire checks them at the border; the transport moves them.
#pragma once

#include <cstdint>

#include "model/ids.hpp"

namespace quire::model {

enum class message_kind : std::uint8_t {
  invalid = 0,
  // sequential protocol: requester -> manager
  read_request,
  write_request,
  atomic_request,
  push_request,
  done,          ///< the requester has what it asked for; the manager takes the next request of the unit
  copy_dropped,  ///< the requester, which is not the owner, has given up its copy to save memory
  // sequential protocol: manager -> owner, copies
  fetch_read,
  fetch_write,
  fetch_push,
  atomic_fetch,
  invalidate,
  // sequential protocol: owner, manager, copies -> requester
  read_reply,
  write_reply,
  write_grant,
  atomic_reply,
  invalidate_ack,
  // push (Millipage, section 4.3): owner -> everyone, everyone -> manager
  push_copy,
  push_ack,
  push_reply,  ///< manager -> requester: all nodes have their copies
  // release consistency: see src/protocol/release. What comes to a node that is not the unit's home goes on to where it
  // moved
  copy_request,  ///< node -> home: the requester wants the content
  copy_reply,    ///< home -> requester; a = how often the home has moved, b = its last interval that is told
  update,        ///< home -> who read the unit before: what the home wrote in its interval a
  patch,  ///< home -> who has a copy: what the home changed between its intervals b and a; see src/core/diffs.hpp for
          ///< the payload
  update_unused,  ///< and back: nobody has looked at the one before
  diffs,          ///< node -> home: what the requester changed in several units; see src/core/diffs.hpp for the payload
  diffs_ack,      ///< home -> requester: `acks` of its diffs are in the homes' content; token of the first message
  home_move,      ///< home -> the node that is home from now on, with the content if it has none; a = how often it has
                  ///< moved, b = whose copies are as good as the content (none if that is not known),
                  ///< c = how it changes hands, see src/protocol/release/migratory.hpp
  home_offer,     ///< home -> the only node that wrote: ask for the content, and be the home if it can go
  home_atomic,    ///< node -> home: do the operation
  home_atomic_reply,
  owner_here,   ///< a home -> manager: the region becomes sequential, and the sender owns the unit
  please_take,  ///< node short of memory -> node that has some: ask for these units, to own them; answered by `room`
  notices,      ///< node -> node: intervals and what was written in them; see src/protocol/release/notices.hpp
  // page locking under release consistency: see src/protocol/release/pinning.cpp
  pin_request,  ///< node -> home; no_data: it needs no content
  pin_grant,    ///< home -> the node that has the pin now, with the content; a = how often the home has moved, b = 1:
                ///< threads of the home release
  pin_end,      ///< node -> home: it has the pin no longer
  // push under release consistency: see src/core/spread.hpp
  spread_request,  ///< node -> home: send the unit to all; token of the call
  spread,          ///< home -> nodes, and from them on: content of several units
  spread_ack,      ///< it has come there, and to all below
  spread_done,     ///< home -> who asked: `acks` units are with all nodes
  pin_next,        ///< home -> itself: the next request that waited
  room,            ///< to who asked to take units: a = bytes that the sender has room for, b = units it has asked for
  // a node of the job is lost, and the others go on: see src/protocol/sequential/loss.cpp
  survives,   ///< a node with a copy -> the unit's manager; a = 1: it was the owner; c = 1: a replica only, b = its
              ///< stamp
  owner_is,   ///< manager -> who has copies: `requester` is the owner; a = 1: and has all that there is of the unit.
              ///< a = 2, to all survivors: nobody has it
  unit_lost,  ///< manager -> requester: nobody has the unit any more; operation = what was asked
  // the same under release consistency: see src/protocol/release/loss.hpp
  home_survives,  ///< a node that has something of a unit -> its manager; a = what, by bits; b, c = whose diffs may be
                  ///< lost, or are held back (a number and one; 255: of several)
  home_settled,   ///< and back: `requester` is the home; a = how that came
  home_lost,      ///< home -> requester: nobody has the unit any more; operation = what was asked
  // units that a store keeps: see src/model/storing.hpp
  unit_refused,  ///< manager -> requester: the content cannot be had from the store; operation = errno, a = what was
                 ///< asked
  write_back,    ///< node -> who manages some of these units: the store is to have what was written; token of the call
  written_back,  ///< and back; operation = 0 or errno
  // content is kept on two nodes: see src/protocol/sequential/saving.hpp
  replica,      ///< owner -> backup: the content, to be kept without a right; b = stamp
  replica_ack,  ///< and back: it is kept
  // transactions that commit by owners: see src/protocol/transaction/owners/turns.hpp
  turn_request,  ///< node -> node 0: a transaction wants its turn
  turn_grant,    ///< and back: no other node commits
  turn_end,      ///< node -> node 0: it is over
  pause,         ///< node 0 -> node: begin no commit
  paused,        ///< and back: none is under way
  resume,        ///< node 0 -> node: nobody has a turn
  // transactions that commit by the token: see src/protocol/transaction/token
  write_set,        ///< who commits -> all others: commit a has written these units; b = 0: more of them follow
  commits_known,    ///< node -> node: whoever goes on by what comes behind this sees the commits up to a
  token_request,    ///< node -> node 0: it wants the token
  token_next,       ///< node 0 -> who wanted it before: `requester` gets it from you
  token,            ///< who has used it -> the next; a = the last commit
  version_request,  ///< node -> owner: the requester wants the content; passed on by who is it no longer
  version_reply,    ///< owner -> requester; a = the last commit that the owner has applied
  // of protocols that the library does not have: their rows say what each is
  other_first,
  other_last = other_first + 15,
  // synchronisation: see src/sync
  sync_first,
  sync_last = sync_first + 63,
  // runtime services: regions, allocation, names, threads, start and end; see src/core and src/region
  service_request,
  service_reply,
  service_notice,
  recovery,  ///< marker: operation = round, a = the dead, b = those that left, c = those of whom something is missed,
             ///< unit = those that are or were members, by bits
             ///< (src/watch/recovery.hpp)
  watch,     ///< who is still there: see src/core/watching.cpp
  sealed,    ///< around another message, which is encrypted: see src/transport/sealed
  last_kind = sealed,
};

namespace message_flag {
inline constexpr std::uint8_t zero = 1;     ///< the unit was never written: no payload, the content is zero
inline constexpr std::uint8_t no_data = 2;  ///< the requester's own copy is current
inline constexpr std::uint8_t keep =
    4;  ///< request: the requester wants to keep the unit a while, and will send `done`
inline constexpr std::uint8_t settled = 8;  ///< reply: the manager has finished the request and expects no `done`
inline constexpr std::uint8_t fresh = 16;   ///< home_move: nobody has used the unit before
inline constexpr std::uint8_t base =
    32;  ///< copy_reply: the content from before a parallel block, which is in the twin
inline constexpr std::uint8_t sample = 64;  ///< update: see whether it is used
inline constexpr std::uint8_t unhurried =
    sample;  ///< diffs, their acknowledgements, notices: another message will come when they are needed
inline constexpr std::uint8_t as_told =
    fresh;  ///< copy_reply, update: the content without what the home has written and not told, from its twin
inline constexpr std::uint8_t take =
    keep;  ///< copy_request: the requester would be the home; home_move: as it asked to be, and here is the content
}  // namespace message_flag

/// Fields that a kind does not use are zero. Plain data: copied, compared and sent as it is (little endian).
struct message {
  message_kind kind = message_kind::invalid;
  std::uint8_t flags = 0;
  region_id region{};
  node_id from{};           ///< who sent it; filled in by the engine
  node_id requester{};      ///< on whose behalf
  std::uint32_t count = 1;  ///< consecutive units, from `unit` on (synchronisation: free use)
  std::uint32_t acks =
      0;  ///< invalidation acknowledgements that the requester must collect; of diffs, how many; of other messages to
          ///< a home under release consistency, how often it had moved when the sender heard of it
  std::uint64_t unit = 0;             ///< first unit, or the id of a synchronisation object
  std::uint64_t token = 0;            ///< comes back in the reply: which thread waits
  std::uint64_t a = 0, b = 0, c = 0;  ///< operands
  std::uint32_t payload_bytes = 0;
  std::uint32_t operation = 0;  ///< atomic operation, service number
  friend bool operator==(const message&, const message&) noexcept = default;
};
static_assert(sizeof(message) == 64);

}  // namespace quire::model
