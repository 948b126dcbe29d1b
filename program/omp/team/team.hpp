// SPDX-License-Identifier: BSD-3-Clause
// Parallel regions: the team of an outermost region is the threads of all nodes. Node 0's master tells the others by
// one broadcast which function runs on which data; each node's lead thread wakes the threads of its node; the region
// ends when all other nodes have come to the next broadcast. README.md draws it. A region within a region has threads
// of its node.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program/job/job.hpp"

namespace quire::program {

using region_function = void (*)(void* data);

/// What a region's beginning brings to other nodes of the master's frame, as it is.
struct carried_data {
  static constexpr std::size_t most = 120;
  alignas(8) std::byte bytes[most];
};

struct team;
struct user_task;

/// What a thread of the program is within its team.
struct context {
  int number = 0, count = 1;
  int level = 0;         ///< parallel regions around it, those of one thread too
  int active_level = 0;  ///< and without them
  int here = 1;          ///< threads of the team on this node
  bool spans = false;    ///< the team has threads on other nodes
  bool known = false;    ///< `own` is set
  bool within = false;   ///< an initial task (of target) within a region
  std::uint64_t shares =
      1;  ///< the loop or section that it has come to last, in this region; the first comes with the region
  std::uint64_t counted = 0;                   ///< the last of these that had a counter
  std::uint64_t kept = 0;                      ///< and how many had memory of their own (omp/team/common_memory.hpp)
  std::uint64_t singles = 0;                   ///< to which it has come, in this region
  std::uint64_t meetings = 0;                  ///< barriers of the region that it has come to
  loop in{};                                   ///< the loop that it is in
  std::uint64_t rounds = 0;                    ///< parts of that which it has taken by its number
  std::uint64_t part_first = 0, part_end = 0;  ///< the part that it has
  const context* outer = nullptr;              ///< of the region around: the master's
  team* in_team = nullptr;                     ///< null: a thread alone, until it has a task that waits
  user_task* now = nullptr;  ///< the task that it runs; null: its implicit one, which has no record yet
  user_task* implicit = nullptr;
  variables own{};
  quire::program::seat seat{};    ///< where it is bound to, and its regions' threads will be
  std::uint64_t* rows = nullptr;  ///< of a doacross loop: what is done of each iteration of its outermost level
  std::uint64_t row = 0;          ///< up to which all are, of the thread's part
};
[[nodiscard]] context& me() noexcept;
/// Of the caller's task.
[[nodiscard]] variables& own_variables() noexcept;

/// Collective, once: agrees on the settings.
void open_team();
/// The calling thread runs main(), and begins regions of the whole team. Those of other threads have one thread.
void begin_main_thread() noexcept;
/// A parallel region: `threads` run the function, of which the caller is one; 0: as many as usual. `read`: bytes of the
/// data that the function reads, if it does nothing else with them; 0 if it may; by_code if its code tells.
inline constexpr std::size_t by_code = ~std::size_t{0};
void run_region(region_function what, void* data, unsigned threads, const loop& first = {},
                std::size_t read = by_code) noexcept;
/// The clause proc_bind of the caller's next region.
void ask_binding(binding how) noexcept;
/// Regions have threads of node 0 only, from now on: it has code that the others have not. Of its main thread.
void keep_regions() noexcept;
[[nodiscard]] bool regions_stay() noexcept;
/// How many threads run_region() would take.
[[nodiscard]] int threads_of_region(unsigned threads) noexcept;
/// A region of the caller alone, whose function the caller has in itself.
void begin_alone() noexcept;
void end_alone() noexcept;
/// A region whose function the caller has in itself; others run `what`.
void begin_region(region_function what, void* data, unsigned threads, const loop& first = {}) noexcept;
void end_region() noexcept;
/// An initial task, as target and teams have it: run(data) outside of all regions.
void run_initial(region_function run, void* data) noexcept;
/// All threads of the caller's team; its tasks are run first. `code`: an address in the program that tells this barrier
/// from others.
void team_barrier(const void* code = nullptr) noexcept;
/// Those of them that are on this node, each with something: the last one calls `last` with all of it while the others
/// wait. Whether that was the caller.
struct brought {
  void* what;
  brought* next;
};
[[nodiscard]] bool meet_on_node(void* what, void (*last)(const brought* all, void* argument), void* argument) noexcept;

/// The lead thread of a node that is not node 0: runs what the master tells, until the end of the job.
void serve() noexcept;
/// No region runs any more: until no thread is on a shared stack. Before the job ends, as stacks go then.
void wait_for_workers() noexcept;
/// Node 0, while no region runs: all nodes make places for the threads of a team of so many.
void tell_of_places(int threads) noexcept;
/// Node 0, when no region can begin any more: the others end.
void dismiss() noexcept;

}  // namespace quire::program
