// SPDX-License-Identifier: BSD-3-Clause
// What a node knows of a unit whose commits go round with the token. There is no directory: each node hears of every
// commit.
#pragma once

#include <cstdint>

#include "directory/placement.hpp"
#include "model/ids.hpp"
#include "protocol/contract/table_memory.hpp"

namespace quire::transaction::token {

using model::access;
using model::node_id;

/// The number of a commit: the first of the job has 1. A node that has applied commit n has applied all before it.
using commit_number = std::uint64_t;

/// Zero at first: nobody has written the unit, and its content is with the node of its placement.
struct unit_state {
  commit_number number = 0;  ///< of the last commit that has written it, of those that this node has applied
  std::uint16_t owner = 0;   ///< who has made it; of no meaning while there is none
  std::uint8_t mapped_ : 2 = 0;
  std::uint8_t valid : 1 =
      0;  ///< the frame has the content of that commit. Also without that of who owns a unit that nobody has written
  std::uint8_t pending : 1 = 0;   ///< it has been asked for
  std::uint8_t arrived : 1 = 0;   ///< and has come, with content of commits that this node has not applied yet
  std::uint8_t withhold : 1 = 0;  ///< it is not mapped when it arrives
  std::uint8_t copied : 1 = 0;    ///< the running transaction has written it
  std::uint8_t kept : 1 = 0;      ///< what was published stays in a private copy, too
  std::uint8_t read_ahead : 1 = 0,
                            useless : 1 =
                                0;  ///< brought before a thread had touched it, and not used yet; taken away unused
  std::uint8_t stale = 0;           ///< contents in a row that had been overwritten when they came

  [[nodiscard]] access mapped() const noexcept { return static_cast<access>(mapped_); }
  void set_mapped(access a) noexcept { mapped_ = static_cast<std::uint8_t>(a) & 3u; }
};
static_assert(sizeof(unit_state) == 16);

/// Of a machine.
struct machine_table {
  explicit machine_table(const protocol::table_memory& from) noexcept : units(from) {}
  protocol::table<unit_state> units;
};

/// What a machine needs to know of its region and node.
struct region_shape {
  model::region_id region{};
  node_id self{};
  directory::manager_map managers{};  ///< of units that nobody has written
  std::uint64_t units = 0;
  std::uint64_t unit_bytes = 0;
};

}  // namespace quire::transaction::token
