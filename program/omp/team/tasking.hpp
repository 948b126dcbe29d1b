// SPDX-License-Identifier: BSD-3-Clause
// Tasks of the program: the machine of tasks/ with threads, shared memory for arguments, and stacks. For front-ends of
// any compiler: what a compiler passes, and how, is their business.
#pragma once

#include <cstddef>
#include <span>

#include "program/omp/tasks/task.hpp"
#include "program/omp/team/team.hpp"

namespace quire::program {

struct user_task : task {
  region_function run = nullptr;
  void* arguments = nullptr;  ///< given to `run`
  void* memory = nullptr;     ///< shared memory that goes with the task; null: the arguments are the maker's
  variables own{};
  bool final = false;              ///< its children are run at once, by their maker
  std::uint64_t* event = nullptr;  ///< a word in shared memory, of a task that is not done before someone sets it
  user_task* next_event = nullptr;
  user_task* maker = nullptr;  ///< of a task whose body is between two calls
  variables makers{};
  void* parcel = nullptr;  ///< what has brought it from another node (exchange.cpp)
};

struct task_options {
  bool deferred = true;  ///< false: the maker runs it, and goes on when it is done (an `if` that is false)
  bool final = false;
  std::span<const dependence> on{};
};

/// A task with so many bytes of shared memory for its arguments, which the caller fills in; `alignment`: a power of
/// two.
[[nodiscard]] user_task* make_task(region_function run, std::size_t bytes, std::size_t alignment) noexcept;
/// A task whose arguments live until run_task() returns, for tasks that are not deferred.
[[nodiscard]] user_task* make_task_on(region_function run, void* arguments) noexcept;
/// The task begins: at once, by the caller; or when it may, by a thread of the team.
void start_task(user_task* t, const task_options& options) noexcept;
/// A task whose body the caller has in itself, between these two calls; it is not deferred.
void begin_task_here(user_task* t, const task_options& options) noexcept;
void end_task_here(user_task* t) noexcept;
/// Whether a task made now is run by its maker, so that its arguments need not be copied.
[[nodiscard]] bool runs_at_once(const task_options& options) noexcept;

/// Until the children of the caller's task have finished; runs tasks meanwhile.
void wait_for_children() noexcept;
/// Until those children have finished that a task with these dependences would have to wait for.
void wait_for_dependences(std::span<const dependence> on) noexcept;
/// A task that does nothing, with these dependences: others wait for it (taskwait with nowait).
void start_empty_task(std::span<const dependence> on) noexcept;
/// A task that is ready may be run here.
void yield_to_tasks() noexcept;

/// A taskgroup, in the caller's task. Its end waits for all tasks in it.
void begin_group() noexcept;
void end_group() noexcept;
/// The innermost one; null: none.
[[nodiscard]] group* group_of_caller() noexcept;

/// Makes a task a detached one, before it begins: it is not done before its event is fulfilled, by any thread of any
/// node.
[[nodiscard]] void* event_of(user_task& t) noexcept;
void fulfil_event(void* event) noexcept;
[[nodiscard]] bool in_final_task() noexcept;

/// A thread in a barrier runs one of the team's tasks. False: none is ready.
[[nodiscard]] bool run_any(team& in) noexcept;
/// Events are words in shared memory, which any node sets; threads that wait look at those that are open.
void look_at_events(team& in) noexcept;
/// The caller's implicit task ends; all tasks of its team are done.
void end_implicit_task() noexcept;
/// A thread alone: runs what waits, and gives up the team that it has got for that.
void end_lone_team() noexcept;

}  // namespace quire::program
