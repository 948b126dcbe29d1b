// SPDX-License-Identifier: BSD-3-Clause
// The counters of a job, gathered from the JSON that its nodes gave to bootstrap::leave(). Called after the job.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/launcher/launcher.hpp"
#include "sharing/verdict.hpp"

namespace quire::bootstrap::launcher {

struct counter_row {
  std::string name;
  std::vector<std::optional<std::int64_t>> by_node;  ///< nothing where a node has not told it
  std::int64_t total = 0;
};

/// Faults of the job's threads on memory of a region, or of one unit.
struct waited_for {
  int region = 0;
  std::uint64_t address = 0;
  std::uint64_t faults = 0, writes = 0, ns = 0;
  std::string data{};          ///< "file+0x1234" of static data
  int nodes = 0, writers = 0;  ///< how many nodes have faulted there, and to write
};
struct waited_region : waited_for {
  std::uint64_t bytes = 0, unit_bytes = 0;
  bool release = false;  ///< has release consistency
};
struct waited_unit : waited_for {
  std::uint64_t blocks = 0, block_bytes = 0;  ///< allocated there, as far as nodes have told
  std::vector<std::string> calls{};           ///< that led to an allocation there, "file+0x1234", the innermost first
};

struct job_statistics {
  std::vector<counter_row> rows;       ///< in the order in which the nodes name them
  std::vector<waited_region> regions;  ///< those that cost the most time first
  std::vector<waited_unit> units;      ///< the same; of each node those that cost it the most
  std::vector<sharing::unit_use>
      shared;  ///< units that moved between nodes, those that threads have waited for most first; if it was asked for
  std::string transport{}, transport_why{};  ///< "shm" or "tcp", and why not shared memory; as the first node tells
  int nodes_told = 0;                        ///< how many nodes gave any
  int sharing_told = 0;                      ///< and told of `shared`
};

/// What is no integer in a flat object is left out.
[[nodiscard]] job_statistics gather(std::span<const std::string> statistics);

/// {"command": [...], "nodes": n, "exit_status": s, "seconds": t, "total": {...}, "by_node": [{...} or null, ...],
///  "regions": [{"region": i, "address": a, "bytes": b, "unit_bytes": u, "release": false, "faults": f, "writes": w,
///  "ns": t, "nodes": n, "writers": m, "data": d}, ...], "units": [{"region": i, "address": a, "faults": f, "writes":
///  w, "ns": t, "nodes": n, "writers": m, "blocks": b, "block_bytes": s, "calls": [...], "data": d}, ...]}
/// `data`: "file+0x1234" of static data, else there is none. Of several nodes: "transport": {"kind": "tcp", "why":
/// "..."}. Where nodes have told of it:
///  "sharing": [{"region": i, "address": a, "bytes": b, "release": false, "kind": "false", "switches": s, "ns": t,
///   "line_bytes": l, "word_bytes": w, "shared": [lines],
///   "nodes": [{"node": n, "moves": m, "ns": t, "reads": {line: times}, "writes": {word: times}}], "objects":
///   [{"address": a, "bytes": b}], "calls": [...], "data": d, "advice": "..."}, ...]
/// `kind`: false, true, both, none.
[[nodiscard]] std::string statistics_json(const job_plan& plan, const job_outcome& outcome);

}  // namespace quire::bootstrap::launcher
