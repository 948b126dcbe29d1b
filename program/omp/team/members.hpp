// SPDX-License-Identifier: BSD-3-Clause
// A team on one node, while its region runs. Private memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "program/job/shared_state.hpp"
#include "program/omp/tasks/pool.hpp"
#include "program/omp/team/barrier.hpp"
#include "program/omp/team/news.hpp"
#include "program/omp/team/steps/meet.hpp"
#include "program/omp/team/team.hpp"
#include "program/sites/sums.hpp"

namespace quire::program {

void dispose_task(task& t) noexcept;

using meeting = steps::meeting_words<std::atomic<std::uint64_t>>;

struct team {
  region_function what = nullptr;
  void* data = nullptr;
  loop first{};  ///< that its threads are in from the beginning, where the compiler has made one call of both
  int threads = 1;
  int first_number = 0, here = 1;  ///< its threads on this node
  bool spans = false;
  context outer{};             ///< of who began the region
  variables own{};             ///< what its threads' tasks begin with
  void* reductions = nullptr;  ///< of tasks, which its region begins with
  carried_data carried{};      ///< what `data` points to where it has come with the region's beginning
  sites::summed_words sums{};  ///< of its data: what nodes add to becomes one at the region's end
  std::uint32_t adds_by = 0;   ///< bytes of its function, which takes a lock to add to them, and for nothing else
  std::mutex adding{};         ///< that lock

  std::atomic<brought*> offered{nullptr};  ///< what threads have come to meet with
  node_barrier barrier;                    ///< where there are no tasks
  meeting within, end;  ///< and where there are (meet.cpp): barriers of the region, and that at its end
  news happened;        ///< that a thread may wait for
  std::mutex guard;     ///< of the tasks
  pool tasks{dispose_task};
  user_task* stand_in = nullptr;          ///< for other nodes, as the parent of tasks that came from there
  std::uint64_t sequence = 0;             ///< of a team of all nodes: the how many-th
  std::atomic<std::uint64_t> singles{0};  ///< how many of the region are claimed, as far as this node has heard
  user_task* open_events = nullptr;       ///< tasks whose events are not fulfilled
  loop_counter counters[common_state::most_shares] = {};  ///< these two where its threads are all on this node
  common_state common{};
  std::atomic<int> inside{0};  ///< threads that use this
  team* next_free = nullptr;
};

/// What the threads of the caller's team share: in shared memory if they are on several nodes.
[[nodiscard]] common_state& common() noexcept;
/// A team like new; and one whose threads have all left.
[[nodiscard]] team& take_team() noexcept;
void give_team(team& t) noexcept;
/// The caller, one of its threads, needs it no more.
void leave_team(team& t) noexcept;
/// The caller's team; a thread alone gets one when it asks.
[[nodiscard]] team& own_team() noexcept;
/// The caller begins a region of its own; what it was before.
[[nodiscard]] context enter_alone() noexcept;

}  // namespace quire::program
