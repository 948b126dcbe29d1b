// SPDX-License-Identifier: BSD-3-Clause
// The tasks of a team that are at home on one node: which may run, and what their ends bring about. A pure machine: it
// calls nobody and waits for nothing. The driver (omp/team/tasking.cpp) holds a lock around each call; bodies run
// outside of it. README.md says who may take what.
#pragma once

#include <cstdint>
#include <span>

#include "program/omp/tasks/task.hpp"

namespace quire::program {

class pool {
 public:
  using dispose_function = void (*)(task& t) noexcept;
  /// `dispose` destroys a record that nobody refers to any more.
  explicit pool(dispose_function dispose) noexcept : dispose_(dispose) {}

  /// `t`, a new record, is a child of `parent` from now on. Its maker runs it, when nothing is missing ...
  void add(task& t, task& parent, std::span<const dependence> on);
  /// ... unless it is queued, for whoever takes it then.
  void queue(task& t) noexcept;
  /// A task for a thread that waits in a barrier of the team. Null: none is ready.
  [[nodiscard]] task* take_any() noexcept;
  /// For a thread whose task `waiting` waits for its children: one of these, or of their descendants.
  [[nodiscard]] task* take_below(task& waiting) noexcept;
  /// For a thread whose task `waiting` waits for a taskgroup.
  [[nodiscard]] task* take_of(group& g, task& waiting) noexcept;
  /// For another node: the oldest task, which has most below it. It runs elsewhere; ended_elsewhere() and left()
  /// follow.
  [[nodiscard]] task* take_away() noexcept;

  /// The body of a task has returned. It finishes, unless its event is open.
  void end_body(task& t) noexcept;
  void fulfil(task& t) noexcept;
  /// The body of a task that was taken away has returned: whoever waits for it alone may go on ...
  void ended_elsewhere(task& t) noexcept;
  /// ... and now all its descendants have finished there, too.
  void left_elsewhere(task& t) noexcept;

  /// A task from another node begins a group of its own here, which has an origin, below a record that stands for the
  /// other node.
  void add_from_elsewhere(task& t, task& stand_in, group& its) noexcept;
  /// It is not empty until it is let go.
  static void hold(group& g) noexcept { ++g.tasks; }
  void let_go(group& g) noexcept;
  /// A group with an origin whose tasks have all finished, once. Null: there is none.
  [[nodiscard]] group* take_empty() noexcept;

  /// Nothing is missing for a task that its maker runs?
  [[nodiscard]] static bool may_run(const task& t) noexcept { return t.missing == 0; }
  /// No task is open: made, and not finished with all that belongs to it.
  [[nodiscard]] bool idle() const noexcept { return open_ == 0; }
  [[nodiscard]] std::uint64_t open() const noexcept { return open_; }
  [[nodiscard]] std::uint64_t ready() const noexcept { return ready_; }
  /// The record of a task that is not made by add(), such as a thread's implicit one, is needed no more.
  void drop(task& t) noexcept;

 private:
  void depend(task& t, task& parent, std::span<const dependence> on);
  void depend(task& t, place& p, dependence::kind how);
  void depend_on_all(task& t, place_table& places);
  void enqueue(task& t) noexcept;
  task* take(task* t) noexcept;
  void finish(task& t) noexcept;
  void leave(task& t) noexcept;
  void drop_all(task_vector& tasks) noexcept;
  void forget_places(task& parent) noexcept;

  dispose_function dispose_;
  task_list<&task::in_queue> queue_;
  group* empty_ = nullptr;
  std::uint64_t open_ = 0, ready_ = 0;
};

}  // namespace quire::program
