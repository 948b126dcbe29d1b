// SPDX-License-Identifier: BSD-3-Clause
// A job of the model: nodes that run a program each, and what it cost them. The same input gives the same result.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/timed/node.hpp"

namespace quire::timed {

/// An access pattern: the shared memory of a job, and what the thread of each node does with it.
struct pattern {
  std::vector<region_size> regions{};
  std::function<program(unsigned node)> thread_of{};
};

struct outcome {
  unsigned nodes = 1;
  time_ns time = 0;           ///< of the slowest node, from begin_measuring() to end_measuring()
  counter_values counters{};  ///< of all nodes, meanwhile: sums
  std::uint64_t messages = 0, bytes = 0, read_faults = 0, write_faults = 0;  ///< of them, as the applications tell them
  std::uint64_t events = 0;                                                  ///< of the simulation
  friend bool operator==(const outcome&, const outcome&) noexcept = default;
};

/// Runs the programs to their end. Throws std::runtime_error if a thread waits for ever.
[[nodiscard]] outcome run_job(const node_options& options, const pattern& what);

}  // namespace quire::timed
