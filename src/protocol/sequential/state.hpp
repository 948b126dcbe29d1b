// SPDX-License-Identifier: BSD-3-Clause
// State of the sequential protocol: what a node knows of each unit, and what the manager of a unit knows. All zero is
// the initial state of both, so that tables of a terabyte of units cost nothing until touched.
#pragma once

#include <cstdint>

#include "directory/placement.hpp"
#include "directory/request_queue.hpp"
#include "model/copyset.hpp"
#include "model/host_map.hpp"
#include "model/ids.hpp"
#include "model/membership.hpp"
#include "protocol/contract/table_memory.hpp"
#include "protocol/sequential/replicas.hpp"

namespace quire::sequential {

using model::access;
using model::node_id;

/// The strongest `hold`: it doubles from one to the next.
inline constexpr unsigned longest_hold = 7;

/// A node's side of a unit. `right` is what the protocol allows this node; `mapped` is what its application view
/// permits now, never more than `right`.
struct unit_state {
  std::uint8_t touched : 1 = 0;     ///< initial right has been set
  std::uint8_t right_ : 2 = 0;      ///< access
  std::uint8_t mapped_ : 2 = 0;     ///< access
  std::uint8_t pending_ : 2 = 0;    ///< access asked for and not yet granted
  std::uint8_t replied : 1 = 0;     ///< the reply to a write request came before all acknowledgements
  std::uint8_t written : 1 = 0;     ///< the content may differ from zero
  std::uint8_t read_ahead : 1 = 0;  ///< asked for by read-ahead, and not touched by a thread since
  std::uint8_t withhold : 1 = 0;    ///< do not map on arrival: the first touch is to be noticed
  std::uint8_t useless : 1 = 0;     ///< was read ahead and taken away untouched: do not read ahead again
  std::uint8_t hold : 3 = 0;  ///< how long to keep the unit when it comes: threads here have lost it unused before
  std::uint8_t held : 1 = 0;  ///< it came, and the manager is to be told when the hold is over
  std::uint16_t acks_expected : 10 = 0;
  std::uint16_t pinned : 1 = 0;      ///< this node has it for writing, and gives it to nobody until the last release
  std::uint16_t advised : 1 = 0;     ///< threads here are going to write it: a read fault asks for a writable copy
  std::uint16_t habit : 3 = 0;       ///< double faults: see below
  std::uint16_t read_first : 1 = 0;  ///< came, or was asked for, to be read: a write would be a double fault. In one
                                     ///< memory: others may have it beside this node
  std::uint16_t acks_got : 10 = 0;
  std::uint16_t probe : 1 = 0;      ///< came writable for a read fault, and is mapped for reading to see the write
  std::uint16_t producing : 1 = 0;  ///< in a production phase, and not written yet: mapped for reading to see the write
  std::uint16_t owner : 1 = 0;      ///< this node is the unit's owner: its content may not be given up
  std::uint16_t lost : 1 = 0;       ///< nobody has the unit any more, says its manager
  std::uint16_t copied : 1 = 0;     ///< private views: the running transaction has written it, or is about to
  std::uint16_t kept : 1 = 0;       ///< private views: what was published last is still in a private copy

  [[nodiscard]] access right() const noexcept { return static_cast<access>(right_); }
  [[nodiscard]] access mapped() const noexcept { return static_cast<access>(mapped_); }
  [[nodiscard]] access pending() const noexcept { return static_cast<access>(pending_); }
  void set_right(access a) noexcept { right_ = static_cast<std::uint8_t>(a); }
  void set_mapped(access a) noexcept { mapped_ = static_cast<std::uint8_t>(a); }
  void set_pending(access a) noexcept { pending_ = static_cast<std::uint8_t>(a); }
  friend bool operator==(const unit_state&, const unit_state&) noexcept = default;
};
static_assert(sizeof(unit_state) == 6);
static_assert(model::max_nodes <= 1024, "acknowledgements are counted in 10 bits");

// What unit_state::habit counts. Below `learned`: double faults in a row. From there on read faults ask for a writable
// copy, each time at the price of one; when they are used up, the next copy is a probe: the write that follows it fills
// the count up again, and its loss unwritten, or that of a copy which was only read, empties it.
inline constexpr unsigned habit_learned = 2;
inline constexpr unsigned habit_sure = 7;

/// A manager's side of a unit. The front of `requests` is the one being served; the unit is busy while there is one.
struct directory_entry {
  model::copyset copies{};  ///< nodes that may have a copy, the owner included
  directory::request_list requests{};
  node_id owner{};  ///< the node that has the current content for certain
  std::uint16_t acks_left = 0;
  static constexpr std::uint8_t lost = 2;
  std::uint8_t touched = 0;  ///< 1: owner and copies have been set; lost: there is neither
  // Of units that a store keeps (flush.cpp); else they mean nothing.
  std::uint8_t dirty : 1 = 0;     ///< the store may have something older: somebody may write, or could
  std::uint8_t wanted : 1 = 0;    ///< a flush is to begin when nothing is being served
  std::uint8_t flushing : 1 = 0;  ///< one is under way
  std::uint8_t leaving : 2 = 0;   ///< model::leave: it is to leave memory when nothing is being served
  node_id served_by{};            ///< the owner when the request that is being served came to the front
};
static_assert(sizeof(directory_entry) == 24);

/// Of a machine that has its own.
struct machine_tables {
  explicit machine_tables(const protocol::table_memory& from) noexcept : units(from), entries(from), replicas(from) {}
  /// 0 or errno.
  [[nodiscard]] int make(std::uint64_t count, bool on_two_nodes) noexcept {
    int error = units.make(count);
    if (error == 0) error = entries.make(count);
    if (error == 0 && on_two_nodes) error = replicas.make(count);
    return error;
  }
  protocol::table<unit_state> units;
  protocol::table<directory_entry> entries;
  protocol::table<replica_state> replicas;
  replica_book book{};
};

class private_views;

/// What a machine needs to know of its region and job.
struct region_shape {
  model::region_id region{};
  node_id self{};
  model::geometry nodes{};
  directory::manager_map managers{};
  std::uint64_t units = 0;
  const model::membership* members = nullptr;  ///< null: the job ends when a node is lost
  replica_tables replicas{};                   ///< content is kept on two nodes
  const private_views* views = nullptr;        ///< null: threads write where they read
  bool learns = true;    ///< double faults are avoided where units show the pattern, not only where threads advise it
  bool stored = false;   ///< a store keeps the content: a unit begins there, and not as zeroes
  bool refills = false;  ///< this node has that store: what nobody alive has begins there again
  model::host_map hosts{};  ///< whose frames are the same
  bool pages_out = false;   ///< nodes give frames up: that one has had a unit does not say that its host has
  bool one_memory = false;  ///< all nodes have them together, and several may write a unit (I20)
};

struct counters {
  std::uint64_t read_faults = 0, write_faults = 0, upgrade_faults = 0, local_faults = 0, racing_faults = 0;
  std::uint64_t competing_requests = 0, invalidations = 0, read_ahead_units = 0, read_ahead_wasted = 0, atomics = 0;
  std::uint64_t double_faults = 0;  ///< upgrades of what had come to be read
  std::uint64_t exclusive_reads = 0,
                exclusive_wasted = 0;     ///< reads that asked for a writable copy; known to be in vain
  std::uint64_t copies_dropped = 0;       ///< clean copies given up to save memory
  std::uint64_t replicas_sent = 0;        ///< units whose content was sent to a backup
  std::uint64_t flushes = 0;              ///< units that went to their store
  std::uint64_t replica_waits = 0;        ///< orders and requests that waited for that
  std::uint64_t one_memory_units = 0;     ///< units that a node got beside others that may write them
  std::uint64_t host_units = 0;           ///< units whose content was not sent, as the receiver has the same frame
  std::uint64_t pins = 0, pin_waits = 0;  ///< units pinned; requests of other nodes that waited for the end of a pin
};

}  // namespace quire::sequential
