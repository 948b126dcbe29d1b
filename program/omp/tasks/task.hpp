// SPDX-License-Identifier: BSD-3-Clause
// What the machine of tasks (pool.hpp) knows of a task and of a taskgroup. A driver derives its own record from `task`.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "program/process/private_memory.hpp"

namespace quire::program {

struct task;

struct link {
  task *before = nullptr, *after = nullptr;
  bool in = false;
};
/// A list through the tasks themselves; the newest is at the end.
template <link task::*Link>
class task_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return last_ == nullptr; }
  [[nodiscard]] task* oldest() const noexcept { return first_; }
  [[nodiscard]] task* newest() const noexcept { return last_; }
  void add(task& t) noexcept;
  void remove(task& t) noexcept;

 private:
  task *first_ = nullptr, *last_ = nullptr;
};

/// What a task does with an address that its siblings may name, too.
struct dependence {
  enum class kind : std::uint8_t {
    in,
    out,
    set
  };  ///< `set` is inoutset; mutexinoutset is out: its tasks take turns in the order of their making
  const void* address = nullptr;  ///< null: all addresses (omp_all_memory), as out
  kind how = kind::out;
};

using task_vector = std::vector<task*, private_allocator<task*>>;
/// The tasks that named an address last: those that may run side by side, and those before them. The place of null has
/// the last one that named all addresses, which is in front of any address that no one has named since.
struct place {
  dependence::kind how = dependence::kind::out;
  task_vector front, before;
};
using place_table = std::unordered_map<const void*, place, std::hash<const void*>, std::equal_to<>,
                                       private_allocator<std::pair<const void* const, place>>>;

struct group;

struct task {
  link in_queue, in_siblings, in_group;
  task* parent = nullptr;
  group* in = nullptr;           ///< the taskgroup that it belongs to, and its children
  std::uint64_t references = 1;  ///< its children, places, and its own end keep it
  std::uint64_t children = 0;    ///< that have not finished
  std::uint64_t missing = 0;     ///< tasks that must finish first
  bool queued = false;           ///< it may be taken when nothing is missing
  bool body_done = false, finished = false;
  bool event_open = false;  ///< it does not finish before its event is fulfilled
  task_vector successors;
  place_table* places = nullptr;  ///< what its children depend on
  task_list<&task::in_siblings> ready_children;
};

struct group {
  group* outer = nullptr;
  std::uint64_t tasks = 0;  ///< that have not finished: those made in it, and their descendants but for inner groups'
  task_list<&task::in_group> ready;
  std::uint32_t* cancelled = nullptr;  ///< where it says so
  void* reductions = nullptr;          ///< the front-end's
  void* origin = nullptr;  ///< of tasks that have come from another node: what it is told when all have finished
  group* next_empty = nullptr;
};

template <link task::*Link>
void task_list<Link>::add(task& t) noexcept {
  link& l = t.*Link;
  l = {last_, nullptr, true};
  (last_ != nullptr ? (last_->*Link).after : first_) = &t;
  last_ = &t;
}
template <link task::*Link>
void task_list<Link>::remove(task& t) noexcept {
  link& l = t.*Link;
  (l.before != nullptr ? (l.before->*Link).after : first_) = l.after;
  (l.after != nullptr ? (l.after->*Link).before : last_) = l.before;
  l = {};
}

}  // namespace quire::program
