// SPDX-License-Identifier: BSD-3-Clause
// A protocol as the core knows it: a row of the table of protocols. A folder of src/protocol has a row and what the row
// makes: a domain for each node, a machine for each region on each node. The core asks no protocol who it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "directory/pins.hpp"
#include "directory/placement.hpp"
#include "model/copyset.hpp"
#include "model/host_map.hpp"
#include "model/machine.hpp"
#include "model/membership.hpp"
#include "protocol/contract/abilities.hpp"
#include "protocol/contract/domain.hpp"
#include "protocol/contract/table_memory.hpp"
#include "protocol/contract/traits.hpp"

namespace quire::protocol {

/// Whether a unit that nodes write in turn goes, with its home, to who asks for it (release/migratory.hpp).
enum class migratory : std::uint8_t {
  never,
  learned,  ///< if it has been written so
  watched,  ///< the same, and the first write of each node is noticed; for reports
  always,   ///< whoever writes it; for tests
};

/// Which writes are noticed, so that what they changed can be told.
enum class traced : std::uint8_t {
  nothing,
  all,
  shared,  ///< but those of units that one node has had for itself for some time (release/lone_writes.hpp)
};

/// What is the same for all regions of a node. Outlives domains and machines.
struct job {
  model::node_id self{};
  unsigned nodes = 1;
  directory::pin_table* pins = nullptr;        ///< what threads of this node have pinned, or wait to pin
  const model::membership* members = nullptr;  ///< null: the job ends when a node is lost
  bool replicas = false;                       ///< content is kept on two nodes
  bool pages_out = false;                      ///< some node of the job has a memory limit
  bool learn_writes = true;                    ///< options of the same names
  bool move_homes = true;
  bool updates = true;
  traced traces = traced::nothing;
  migratory hands_on = migratory::learned;
  std::size_t twin_pages = 0;  ///< that twins may take on this node
  std::size_t notices = 0;  ///< write notices that a node keeps before it packs them; 0: as many as the protocol likes
  table_memory memory{};
};

/// A region, and what its units are.
struct region_shape {
  model::region_id region{};
  directory::manager_map managers{};  ///< of units nobody has used yet
  std::uint64_t units = 0;
  std::uint32_t unit_pages = 1;
  std::uint32_t units_a_page = 1;  ///< numbers of units of each page
  bool first_touch = false;  ///< the first node that asks for a unit becomes its home, where the protocol has homes
  bool beside_others =
      false;            ///< threads synchronise by memory of other regions, which orders (quire_region_options::orders)
  bool scans = false;   ///< written units are found by machine::on_written(), and no write faults
  bool stored = false;  ///< a store of its own keeps its content (model/storing.hpp)
  bool refills =
      false;  ///< this node has that store, or a way to it: content that nobody alive has is asked of it again
  model::host_map hosts{};  ///< whose frames are the same, where the protocol can (abilities::host_frames)
  bool one_memory = false;  ///< all nodes of the job have them together, and none has to give a unit up for another
};

struct row {
  model::protocol_id id{};
  const char* name = "";  ///< of its consistency
  abilities can{};
  std::span<const message_traits> messages{};
  std::unique_ptr<domain> (*make_domain)(const job& node) = nullptr;
  /// With tables of its own. Null, with errno in `error`, if there is no memory for them.
  std::unique_ptr<model::machine> (*make_machine)(const job& node, const region_shape& shape, domain& shared,
                                                  int& error) = nullptr;
};

/// The row of a consistency, among these; null if there is none.
[[nodiscard]] inline const row* find(std::span<const row* const> among, std::int64_t consistency) noexcept {
  for (const row* const r : among) {
    if (r->id.value() == consistency) return r;
  }
  return nullptr;
}

}  // namespace quire::protocol
