// SPDX-License-Identifier: BSD-3-Clause
// Parallel regions: the team of a region is the threads of all nodes. Node 0's master tells the others by one broadcast which function runs on
// which data; each node's lead thread wakes the threads of its node; a barrier of the team ends the region. README.md draws it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::openmp {

using region_function = void (*)(void* data);

/// A loop whose iterations threads of a team take from a common counter, or by their number.
struct loop {
  enum class schedule : std::uint8_t { blocks, rounds, taken, guided };  ///< the first two need no counter
  std::int64_t start = 0, step = 1;
  std::uint64_t iterations = 0, chunk = 1;
  schedule how = schedule::taken;
  bool ordered = false;  ///< some of each iteration is done in the order of iterations
};

/// What a thread of the program is within its team.
struct context {
  int number = 0, count = 1;
  int level = 0;         ///< parallel regions around it, those of one thread too
  int active_level = 0;  ///< and without them
  int here = 1;          ///< threads of the team on this node
  bool spans = false;    ///< the team has threads on other nodes
  std::uint64_t shares = 1;  ///< the loop or section that it has come to last, in this region; the first comes with the region
  std::uint64_t counted = 0; ///< the last of these that had a counter
  loop in{};                 ///< the loop that it is in
  std::uint64_t rounds = 0;  ///< parts of that which it has taken by its number
  std::uint64_t part_first = 0, part_end = 0;  ///< the part that it has
  int outer_number = 0, outer_count = 1;  ///< of the region around
};
[[nodiscard]] context& me() noexcept;

/// What all nodes know of a job.
struct settings {
  int node = 0, nodes = 1;
  int processors = 1;    ///< of all nodes
  int threads = 1;       ///< that a region has which asks for no number
  std::size_t stack_bytes = 8u << 20;
  loop::schedule schedule = loop::schedule::taken;  ///< of loops that leave it to the user (OMP_SCHEDULE)
  std::uint64_t chunk = 1;
};
[[nodiscard]] settings& job() noexcept;

/// Collective, once: agrees on the settings.
void open_team();
/// The calling thread runs main(), and begins regions of the whole team. Those of other threads have one thread.
void begin_main_thread() noexcept;
/// A parallel region: `threads` run the function, of which the caller is one; 0: as many as usual.
void run_region(region_function what, void* data, unsigned threads, const loop& first = {}) noexcept;
/// All threads of the caller's team.
void team_barrier() noexcept;

/// The lead thread of a node that is not node 0: runs what the master tells, until the end of the job.
void serve() noexcept;
/// No region runs any more: until no thread is on a shared stack. Before the job ends, as stacks go then.
void wait_for_workers() noexcept;
/// Node 0, when no region can begin any more: the others end.
void dismiss() noexcept;

}  // namespace quire::openmp
