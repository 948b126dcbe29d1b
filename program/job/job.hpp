// SPDX-License-Identifier: BSD-3-Clause
// What all nodes know of a job: how many there are, and what the environment has set.
#pragma once

#include <pthread.h>

#include <climits>
#include <cstddef>
#include <cstdint>

#include "program/job/assignment.hpp"

namespace quire::program {

/// A loop whose iterations threads of a team take from a common counter, or by their number.
struct loop {
  enum class schedule : std::uint8_t { blocks, rounds, taken, guided };  ///< the first two need no counter
  std::int64_t start = 0, step = 1;  ///< of a region that begins with none: `start` tells it from others, or is 0
  std::uint64_t iterations = 0, chunk = 1;
  schedule how = schedule::taken;
  bool ordered = false;          ///< some of each iteration is done in the order of iterations
  bool sections = false;         ///< its iterations are sections: a thread takes one at a time
  bool reductions = false;       ///< of a region: its data begin with a pointer to reductions of tasks
  binding bind = binding::none;  ///< of a region: its clause proc_bind
};

/// What the standard calls internal control variables: a task has its own, and hands them on to the tasks and regions
/// that it makes.
struct variables {
  int threads = 1;  ///< that a region has which asks for no number
  int thread_limit = INT_MAX;
  int most_active_levels = 1;
  int device = 0;
  int team_number = 0, teams = 1;        ///< of a league (teams)
  int teams_asked = 0, teams_limit = 0;  ///< of leagues that ask for no number; 0: not set
  bool dynamic = false, monotonic = false;
  bool automatic = false;  ///< the schedule's kind was auto
  bool scheduled = false;  ///< the user or the program has said which schedule; else each runtime's own one holds
  loop::schedule schedule = loop::schedule::taken;  ///< of loops that leave it to the user (OMP_SCHEDULE)
  std::uint64_t chunk = 1;
  std::uint64_t allocator = 1;
  int block_time_ms = 200;  ///< kmp_set_blocktime(); nobody waits by it
  int library = 3;          ///< kmp_set_library()
  bool operator==(const variables&) const = default;
};

/// What all nodes know of a job.
struct settings {
  static constexpr int most_levels = 8;
  static constexpr int longest_format = 512;
  int node = 0, nodes = 1;
  pthread_t main_thread = 0;  ///< node 0's
  int processors = 1;         ///< of all nodes
  int most_priority = 0;
  bool for_llvm = false;             ///< the program has LLVM's or Intel's runtime, or both and these first
  bool display = false;              ///< OMP_DISPLAY_ENV
  bool waits_passively = false;      ///< OMP_WAIT_POLICY
  bool needs_device = false;         ///< OMP_TARGET_OFFLOAD=mandatory
  int threads_at[most_levels] = {};  ///< of regions that ask for no number, by their level; 0: as one level above
  std::size_t stack_bytes = 8u << 20;
  bool has_tasks = false;         ///< the program makes tasks: threads run them in barriers
  bool cancellation = false;      ///< OMP_CANCELLATION
  bool display_affinity = false;  ///< OMP_DISPLAY_AFFINITY
  binding bind_at[most_levels] =
      {};             ///< OMP_PROC_BIND of regions by their level; the first is none: no thread is bound
  variables first{};  ///< of the initial task
  char affinity_format[longest_format] = {};  ///< OMP_AFFINITY_FORMAT
};
[[nodiscard]] settings& job() noexcept;

}  // namespace quire::program
