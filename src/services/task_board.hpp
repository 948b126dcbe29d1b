// SPDX-License-Identifier: BSD-3-Clause
// The board of tasks, in a transactional region that the first thread makes that needs it:
//
//   page 0                 for how many nodes there is room, N, and who is to stop
//   pages 1 to N + 1       queues, one of each node, the last of tasks that any node may run: a list for each priority
//   then, for each node    a page with its free list
//   then, for each node    its tasks, which are in lists by their numbers
//   then, for each node    its hand: a page of which others know nothing while it runs a task
//
// A task is in a queue, or in a hand, or has ended. Who takes one writes its queue and its own hand, and not the task,
// which shares its page with others: so nodes that take tasks of different queues, or run some at the same time, do not
// meet. What has ended is given back to who made it later, many at once.
//
// All of it is plain memory that transactions read and write, and that checkpoints have as any other: a job that goes
// on from one, with more or fewer nodes, goes on with its tasks. Application threads, in a transaction, unless said
// otherwise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace quire::services {

/// 64 bytes. Numbers of tasks are places in the table of all, from 1 on.
struct task {
  std::uint64_t module = 0, offset = 0;  ///< its function
  std::uint64_t argument = 0;
  std::uint64_t due_ms = 0, period_ms = 0;
  std::uint32_t next = 0, generation = 0;  ///< an even one is free
  std::uint32_t queue = 0, priority = 0;
  std::uint64_t spare = 0;
};
static_assert(sizeof(task) == 64);

class task_board {
 public:
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::uint32_t tasks_of_a_node = 4096;
  static constexpr unsigned fewest_places = 16;  ///< for nodes: a job may go on from a checkpoint with more of them
  static constexpr unsigned priorities = 8;
  static constexpr unsigned most_ended = 64;  ///< in a hand

  struct queue {
    std::uint32_t first[priorities], last[priorities];
  };
  struct maker {
    std::uint32_t free, used;  ///< a list of those that have been in use, and how many there are
    std::uint64_t stops;       ///< that the node's loop has ended by
  };
  struct head {
    std::uint64_t places;  ///< for nodes
    std::uint64_t stops;   ///< calls
  };
  /// Of a node.
  struct hand {
    std::uint32_t number, generation;        ///< of the task that it has taken to run it next, or 0
    std::uint64_t module, offset, argument;  ///< of that one
    std::uint32_t ended;                     ///< tasks that it has run, and that are not given back yet
    std::uint32_t those[most_ended];
  };
  static_assert(sizeof(hand) <= page_bytes);

  task_board() = default;
  task_board(std::byte* at, unsigned places) : at_(at), nodes_(places) {}
  [[nodiscard]] static unsigned places_for(unsigned nodes) noexcept { return std::max(fewest_places, nodes); }
  [[nodiscard]] static std::uint64_t bytes_for(unsigned places) noexcept {
    return hands_from(places) + places * page_bytes;
  }
  [[nodiscard]] unsigned places() const noexcept { return nodes_; }
  [[nodiscard]] const std::byte* begin() const noexcept { return at_; }
  /// All but hands: what nodes have in common.
  [[nodiscard]] std::uint64_t common_bytes() const noexcept { return hands_from(nodes_); }
  [[nodiscard]] head& top() const noexcept { return *reinterpret_cast<head*>(at_); }
  [[nodiscard]] queue& of(unsigned node) const noexcept {
    return *reinterpret_cast<queue*>(at_ + (1 + node) * page_bytes);
  }
  [[nodiscard]] unsigned any() const noexcept { return nodes_; }
  [[nodiscard]] maker& made_by(unsigned node) const noexcept {
    return *reinterpret_cast<maker*>(at_ + (nodes_ + 2 + node) * page_bytes);
  }
  [[nodiscard]] hand& in(unsigned node) const noexcept {
    return *reinterpret_cast<hand*>(at_ + hands_from(nodes_) + node * page_bytes);
  }
  [[nodiscard]] task& at(std::uint32_t number) const noexcept {
    return reinterpret_cast<task*>(at_ + tasks_from(nodes_))[number - 1];
  }

  /// The number of a new task. 0: this node has no room for more.
  [[nodiscard]] std::uint32_t make(unsigned node) const noexcept {
    maker& m = made_by(node);
    if (m.free == 0 && m.used == tasks_of_a_node) {
      for (unsigned n = 0; n < nodes_; ++n) give_ended_back(n);
    }
    if (m.free == 0) return m.used == tasks_of_a_node ? 0 : node * tasks_of_a_node + ++m.used;
    const std::uint32_t number = m.free;
    m.free = at(number).next;
    return number;
  }
  void give_back(std::uint32_t number) const noexcept {
    ++at(number).generation;
    maker& m = made_by((number - 1) / tasks_of_a_node);
    at(number).next = m.free;
    m.free = number;
  }
  void enqueue(std::uint32_t number) const noexcept {
    task& t = at(number);
    queue& q = of(t.queue);
    t.next = 0;
    (q.last[t.priority] != 0 ? at(q.last[t.priority]).next : q.first[t.priority]) = number;
    q.last[t.priority] = number;
  }
  /// Before all others of its priority.
  void enqueue_first(std::uint32_t number) const noexcept {
    task& t = at(number);
    queue& q = of(t.queue);
    t.next = q.first[t.priority];
    q.first[t.priority] = number;
    if (t.next == 0) q.last[t.priority] = number;
  }
  /// False if it is in no queue.
  bool dequeue(std::uint32_t number) const noexcept {
    const task& t = at(number);
    queue& q = of(t.queue);
    std::uint32_t before = 0;
    for (std::uint32_t* link = &q.first[t.priority]; *link != 0; before = *link, link = &at(*link).next) {
      if (*link != number) continue;
      *link = t.next;
      if (q.last[t.priority] == number) q.last[t.priority] = before;
      return true;
    }
    return false;
  }
  /// It does not run any more. False if it has run, or was removed.
  bool remove(std::uint32_t number, std::uint32_t generation) const noexcept {
    if (at(number).generation != generation) return false;
    bool found = dequeue(number);
    for (unsigned node = 0; node < nodes_ && !found; ++node) {
      found = in(node).number == number;
      if (found) in(node).number = 0;
    }
    if (found) give_back(number);
    return found;
  }
  /// The task that `node` is to run next, or 0; then `due_ms` is when there will be one, or 0.
  [[nodiscard]] std::uint32_t find(unsigned node, std::uint64_t now_ms, std::uint64_t& due_ms) const noexcept {
    due_ms = 0;
    for (unsigned priority = 0; priority < priorities; ++priority) {
      for (const unsigned from : {node, any()}) {
        for (std::uint32_t number = of(from).first[priority]; number != 0; number = at(number).next) {
          const std::uint64_t due = at(number).due_ms;
          if (due <= now_ms) return number;
          due_ms = due_ms == 0 ? due : std::min(due_ms, due);
        }
      }
    }
    return 0;
  }

  // ---- Hands
  /// A task that runs once goes from its queue into the hand, which is empty.
  void take(unsigned node, std::uint32_t number) const noexcept {
    const task& t = at(number);
    hand& h = in(node);
    h.number = number;
    h.generation = t.generation;
    h.module = t.module;
    h.offset = t.offset;
    h.argument = t.argument;
    (void)dequeue(number);
  }
  /// The task in the hand goes back to its queue.
  void put_back(unsigned node) const noexcept {
    hand& h = in(node);
    if (h.number == 0) return;
    enqueue_first(h.number);
    h.number = 0;
  }
  /// It is in no queue, and in no hand any more: it runs for the last time.
  void end(unsigned node, std::uint32_t number) const noexcept {
    hand& h = in(node);
    if (h.ended == most_ended) give_ended_back(node);
    h.those[h.ended++] = number;
  }
  void give_ended_back(unsigned node) const noexcept {
    hand& h = in(node);
    if (h.ended == 0) return;  // a hand that is only read is nobody's loss
    for (std::uint32_t i = 0; i < h.ended; ++i) give_back(h.those[i]);
    h.ended = 0;
  }

  /// After a restart, with so many nodes: a stop was for loops that are no more, and tasks of nodes that there are not
  /// any more are any node's.
  void go_on(unsigned nodes) const noexcept {
    top().stops = 0;
    for (unsigned node = 0; node < nodes_; ++node) {
      give_ended_back(node);
      put_back(node);
    }
    for (unsigned node = 0; node < nodes_; ++node) {
      if (made_by(node).stops != 0) made_by(node).stops = 0;
      if (node >= nodes) give_to_any(node);
    }
  }

 private:
  void give_to_any(unsigned node) const noexcept {
    for (unsigned priority = 0; priority < priorities; ++priority) {
      while (const std::uint32_t number = of(node).first[priority]) {
        (void)dequeue(number);
        at(number).queue = any();
        enqueue(number);
      }
    }
  }
  [[nodiscard]] static std::uint64_t tasks_from(std::uint64_t places) noexcept { return (2 * places + 2) * page_bytes; }
  [[nodiscard]] static std::uint64_t hands_from(std::uint64_t places) noexcept {
    return tasks_from(places) + places * tasks_of_a_node * sizeof(task);
  }

  std::byte* at_ = nullptr;
  unsigned nodes_ = 0;  ///< for which there is room
};

}  // namespace quire::services
