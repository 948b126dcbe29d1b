// SPDX-License-Identifier: BSD-3-Clause
// Programs for simulated threads: patterns of sharing that occur in practice, drawn from a seed.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/bare/sequential_cluster.hpp"
#include "sim/random.hpp"

namespace quire::sim {

enum class pattern : std::uint8_t {
  uniform,      ///< any operation on any unit
  hot,          ///< everybody reads and writes one unit
  read_mostly,  ///< one write in sixteen
  migratory,    ///< read, then write the same unit
  counters,     ///< atomic operations, mixed with reads and writes of the same words
  sweep,        ///< units in order, asked for in advance, some withheld, some mapped by the neighbour's fault
  producer,     ///< one node writes and pushes, the others read
  updates,      ///< reads and then writes, over and over, and only reads now and then; some of it advised
  locking,      ///< pins some units in order, uses them, ends the pins; and everything else without
  count,
};

struct workload {
  pattern kind = pattern::uniform;
  unsigned threads_per_node = 1;
  unsigned operations = 10;  ///< of each thread
};

/// Written values are unique, so that a read tells which write it saw.
[[nodiscard]] std::vector<script> make_scripts(const workload& w, const cluster_options& shape, random& rng);

/// Mixes in what nodes do that are short of memory, and their neighbours.
void add_page_outs(std::vector<script>& scripts, const cluster_options& shape, random& rng);

}  // namespace quire::sim
