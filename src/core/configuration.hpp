// SPDX-License-Identifier: BSD-3-Clause
// What a job runs with; made by src/api from options and measurement of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layouts.hpp"
#include "detect/kinds.hpp"
#include "directory/pins.hpp"
#include "model/ids.hpp"
#include "pool/pool.hpp"
#include "protocol/table/table.hpp"
#include "store/table.hpp"

namespace quire::core {

struct configuration {
  std::span<const protocol::row* const> protocols = protocol::built_in();  ///< that regions may have
  std::span<const layout_row* const> layouts = layouts::built_in();        ///< the same
  std::span<const store::row* const> stores = store::built_in();           ///< that regions may name
  model::node_id self{};
  unsigned nodes = 1;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  detect::kind detector = detect::kind::userfault_inline;
  pool::settings pool{};
  bool read_ahead = true;
  bool plans = true;         ///< at the beginning of a phase (quire_plan()) what it used before is asked for
  bool lock_plans = true;    ///< so is, with a lock that comes from another node, what was used under it
  bool read_lines = true;    ///< read-ahead also for many sweeps at a time (read_lines.hpp)
  bool write_ahead = true;   ///< release consistency, replicas: sweeps of writes get rights ahead, at homes and owners
  bool learn_writes = true;  ///< reads that writes have followed ask for writable copies
  bool move_homes = true;    ///< release consistency: the home of a unit moves to its only writer
  bool updates = true;       ///< release consistency: what a home wrote is sent to its readers before they ask
  protocol::migratory migratory = protocol::migratory::learned;  ///< release consistency: homes of units that nodes
                                                                 ///< write in turn go to who reads them
  std::vector<std::uint16_t> hosts{};  ///< [node]: the first of the nodes that map the same memory (pool.host_file), as
                                       ///< it is known to all; empty: none do
  std::byte* host_holds = nullptr;     ///< with a memory limit: which of it nodes use (pool/host_holds.hpp)
  std::vector<std::uint16_t> domains{};  ///< [node]: the first of the nodes that run on the same host (os::hosts_of())
  std::uint64_t twin_bytes = std::uint64_t{256} << 20;  ///< that twins may take on this node
  std::size_t notice_limit = 0;  ///< notices that a node keeps before it packs them; 0: as many as the protocol likes
  protocol::traced races =
      protocol::traced::nothing;  ///< intervals are recorded (races/recorder.hpp); what guesses writes is off then
  bool sharing = false;           ///< the parts of units that threads use are counted (sharing/table.hpp)
  std::size_t pin_limit = directory::pin_table::default_limit;  ///< units that this node may have pinned
  std::uint64_t restart_every =
      0;  ///< transactions begin again at every so many-th access that is noticed; 0: when others come first
  std::uint64_t memory_limit = 0;  ///< bytes that units may take on this node; 0: no limit
  std::uint64_t cache_limit = 0;   ///< without that one: bytes that units of regions with a store of their own may take
                                   ///< on this node; 0: no limit
  bool replicas = false;           ///< content of regions with sequential consistency is kept on two nodes
  bool pages_out = false;          ///< some node of the job has a memory limit
  std::string page_out_directory{};
  bool runs_heap = false;           ///< threads run what they have written to the heap
  bool sees_deaths = false;         ///< where it does: each node by itself (bootstrap::see_deaths()); no launcher tells
  bool survives = false;            ///< when nodes die the job goes on (abilities::survive); at most 64 nodes
  unsigned founders = 0;            ///< of `nodes`: those that are there at the start; the others may join, where nodes
                                    ///< survive. 0: all
  std::uint64_t write_back_ns = 0;  ///< between two times that what threads have written goes back to the stores that
                                    ///< keep regions; 0: when it is asked for
  std::uint64_t peer_limit_ns = 0;  ///< a peer that is silent for so long is lost; 0: nobody watches
  /// Whether the node's program is stopped by a signal, although this process runs (pool 'fork'); null: it is this
  /// process.
  bool (*program_stopped)() noexcept = nullptr;

  [[nodiscard]] unsigned first_nodes() const noexcept { return founders == 0 ? nodes : founders; }
  [[nodiscard]] bool runs(std::uint16_t region) const noexcept { return runs_heap && region == 0; }
};

}  // namespace quire::core
