// SPDX-License-Identifier: BSD-3-Clause
// The loop of registered transactions. A board in a transactional region has all tasks, made by the first thread that needs it:
//
//   page 0                 for how many nodes there is room, N, and who is to stop
//   pages 1 to N + 1       queues, one of each node, the last of tasks that any node may run: a list for each priority
//   then, for each node    a page with its free list, and its tasks, which are in lists by their numbers
//
// All of it is plain memory that transactions read and write, and that checkpoints have as any other: a job that goes on from one, with more or fewer
// nodes, goes on with its tasks. Application threads.
#include <quire/loop.h>
#include <quire/transaction.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>

#include "api/forward.hpp"
#include "api/function_place.hpp"
#include "api/loop.hpp"
#include "api/runtime.hpp"
#include "api/transactions.hpp"
#include "api/versions.hpp"
#include "base/log.hpp"

namespace {

using quire::base::explain;

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint32_t tasks_of_a_node = 4096;
constexpr unsigned fewest_places = 16;  ///< for nodes: a job may go on from a checkpoint with more of them
constexpr unsigned priorities = 8, usual_priority = 4;
constexpr const char* board_name = "quire.loop";

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

/// The shared memory, as this node sees it.
class board {
 public:
  board() = default;
  board(std::byte* at, unsigned places) : at_(at), nodes_(places) {}
  [[nodiscard]] static unsigned places_for(unsigned nodes) noexcept { return std::max(fewest_places, nodes); }
  [[nodiscard]] static std::uint64_t bytes_for(unsigned places) noexcept {
    return (places + 2 + std::uint64_t{places}) * page_bytes + std::uint64_t{places} * tasks_of_a_node * sizeof(task);
  }
  [[nodiscard]] unsigned places() const noexcept { return nodes_; }
  [[nodiscard]] head& top() const noexcept { return *reinterpret_cast<head*>(at_); }
  [[nodiscard]] queue& of(unsigned node) const noexcept { return *reinterpret_cast<queue*>(at_ + (1 + node) * page_bytes); }
  [[nodiscard]] unsigned any() const noexcept { return nodes_; }
  [[nodiscard]] maker& made_by(unsigned node) const noexcept { return *reinterpret_cast<maker*>(at_ + (nodes_ + 2 + node) * page_bytes); }
  [[nodiscard]] task& at(std::uint32_t number) const noexcept {
    return reinterpret_cast<task*>(at_ + (2 * std::uint64_t{nodes_} + 2) * page_bytes)[number - 1];
  }

  // In a transaction.
  /// 0: this node has no room for more.
  [[nodiscard]] std::uint32_t take(unsigned node) const noexcept {
    maker& m = made_by(node);
    std::uint32_t number = m.free;
    if (number != 0) {
      m.free = at(number).next;
    } else if (m.used != tasks_of_a_node) {
      number = node * tasks_of_a_node + ++m.used;
    } else {
      return 0;
    }
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
  void dequeue(std::uint32_t number) const noexcept {
    const task& t = at(number);
    queue& q = of(t.queue);
    std::uint32_t before = 0;
    for (std::uint32_t* link = &q.first[t.priority]; *link != 0; before = *link, link = &at(*link).next) {
      if (*link != number) continue;
      *link = t.next;
      if (q.last[t.priority] == number) q.last[t.priority] = before;
      return;
    }
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

 private:
  std::byte* at_ = nullptr;
  unsigned nodes_ = 0;  ///< for which there is room
};

/// Of all hosts alike, about.
std::uint64_t now_ms() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

/// Runs f() as a transaction, or as part of the one that runs.
template <class F>
quire_status atomically(F f) {
  return quire_atomically([](void* p) { (*static_cast<F*>(p))(); }, &f, nullptr);
}

/// Makes the board, or finds that of another.
quire_status open_board(void*& at) {
  if (const auto why = quire_lookup(board_name, 0, &at); why != QUIRE_NOT_FOUND && why != QUIRE_TIMED_OUT) return why;
  const unsigned places = board::places_for(static_cast<unsigned>(quire_nodes()));
  quire_region_options about{};
  about.size = sizeof about;
  about.consistency = QUIRE_TRANSACTIONAL;
  about.placement = QUIRE_PLACE_MODULO;
  about.unit_bytes = page_bytes;
  quire_region region{};
  if (const auto why = quire_region_create(&about, board::bytes_for(places), &region); why != QUIRE_OK) return why;
  if (const auto why = quire_region_range(region, &at, nullptr); why != QUIRE_OK) return why;
  if (const auto why = atomically([&] { static_cast<head*>(at)->places = places; }); why != QUIRE_OK) return why;
  const auto why = quire_publish(board_name, at);
  if (why != QUIRE_EXISTS) return why;
  (void)quire_region_destroy(region);  // another was faster
  return quire_lookup(board_name, -1, &at);
}

/// A process has one job in its life, so the place stays known.
quire_status get_board(const char* call, board& found) {
  if (quire::api::elsewhere() != nullptr) return explain(QUIRE_UNSUPPORTED, "%s(): not with pool 'fork'", call);
  static std::atomic<void*> known{nullptr};
  void* at = known.load(std::memory_order_acquire);
  const bool is_new = at == nullptr, inside = quire_in_transaction() != 0;
  if (is_new) {
    const auto why = inside ? quire_lookup(board_name, 0, &at) : open_board(at);
    if (why != QUIRE_OK && inside)  // made outside of it: what it takes cannot be undone
      return explain(QUIRE_INVALID, "%s(): the first call of the job that concerns tasks cannot be within a transaction", call);
    if (why != QUIRE_OK) return why;
  }
  const auto places = static_cast<const volatile head*>(at)->places;  // it never changes
  if (static_cast<std::uint64_t>(quire_nodes()) > places) {
    return explain(QUIRE_LIMIT, "%s(): the checkpoint that the job went on from has room for tasks of %lu nodes", call, static_cast<unsigned long>(places));
  }
  if (!inside) known.store(at, std::memory_order_release);
  found = {static_cast<std::byte*>(at), static_cast<unsigned>(places)};
  return QUIRE_OK;
}

/// A node's way through its tasks.
struct loop {
  static constexpr unsigned most_at_once = 64;
  board tasks;
  unsigned self;
  unsigned at_once = 1;        ///< tasks that are to be one transaction
  unsigned attempts = 0, ran = 0;  ///< of this one
  std::uint32_t at = 0;        ///< the task that it is at
  std::uint64_t missing = 0;   ///< not 0: this node has no such function
  bool stopped = false;

  /// The body: takes some tasks, and runs them.
  void step() {
    ++attempts;
    at_once = attempts > 1 ? std::max(1u, at_once / 2) : at_once;
    stopped = false;
    for (ran = 0; ran < at_once; ++ran) {
      if (tasks.top().stops != tasks.made_by(self).stops) {
        tasks.made_by(self).stops = tasks.top().stops;
        stopped = true;
        return;
      }
      std::uint64_t due = 0;
      const std::uint64_t now = now_ms();
      at = tasks.find(self, now, due);
      if (at == 0) {
        if (ran != 0) return;
        attempts = 0;
        quire::api::transactions::retry_within(due == 0 ? -1 : static_cast<std::int64_t>(due - now));
      }
      run(now);
      if (missing != 0) return;
    }
  }

 private:
  void run(std::uint64_t now) {
    task& t = tasks.at(at);
    const std::uint64_t function = quire::api::function_at(t.module, t.offset), argument = t.argument;
    if (function == 0) {
      missing = t.offset;
      return;
    }
    tasks.dequeue(at);
    if (t.period_ms == 0) {
      tasks.give_back(at);
    } else {
      t.due_ms = now + t.period_ms;
      tasks.enqueue(at);
    }
    reinterpret_cast<void (*)(std::uint64_t)>(function)(argument);
  }
};

/// A task that has undone itself must not come again.
void drop(const board& tasks, std::uint32_t number) {
  (void)!atomically([&] {
    if (tasks.at(number).generation % 2 == 0) return;
    tasks.dequeue(number);
    tasks.give_back(number);
  });
}

std::atomic<bool> g_runs{false};

}  // namespace

quire_status quire::api::go_on_with_tasks() {
  void* at = nullptr;
  if (quire_lookup(board_name, 0, &at) != QUIRE_OK) return QUIRE_OK;
  const board tasks(static_cast<std::byte*>(at), static_cast<unsigned>(static_cast<const volatile head*>(at)->places));
  return atomically([&] {
    tasks.top().stops = 0;  // a stop was for loops that are no more
    for (unsigned node = 0; node < tasks.places(); ++node) {
      if (tasks.made_by(node).stops != 0) tasks.made_by(node).stops = 0;
      if (node < static_cast<unsigned>(quire_nodes())) continue;
      for (unsigned priority = 0; priority < priorities; ++priority) {
        while (const std::uint32_t number = tasks.of(node).first[priority]) {
          tasks.dequeue(number);
          tasks.at(number).queue = tasks.any();
          tasks.enqueue(number);
        }
      }
    }
  });
}

quire_status quire_task_register(void (*function)(std::uint64_t), std::uint64_t argument, const quire_task_options* options, quire_task* name) {
  QUIRE_STARTED();
  if (function == nullptr) return explain(QUIRE_INVALID, "quire_task_register(): the function is NULL");
  quire_task_options how{};
  how.node = -1;
  how.priority = usual_priority;
  if (options != nullptr && !quire::api::take(options, how, "quire_task_register", "quire_task_options")) return QUIRE_INVALID;
  if (how.node < -1 || how.node >= quire_nodes())
    return explain(QUIRE_INVALID, "quire_task_register(): there is no node %d; the job has %d", how.node, quire_nodes());
  if (how.priority < 0 || how.priority >= static_cast<int>(priorities))
    return explain(QUIRE_INVALID, "quire_task_register(): the priority is %d, and not 0 to 7", how.priority);
  constexpr std::uint64_t longest_ms = std::uint64_t{1} << 50;
  if (how.delay_ms > longest_ms || how.period_ms > longest_ms)
    return explain(QUIRE_INVALID, "quire_task_register(): delay_ms and period_ms are at most 2^50");
  const auto place = quire::api::place_of(reinterpret_cast<std::uint64_t>(function));
  if (!place) {
    return explain(QUIRE_INVALID, "quire_task_register(): %p is no function of the program or of a library that it has loaded",
                   reinterpret_cast<void*>(function));
  }
  board tasks;
  if (const auto why = get_board("quire_task_register", tasks); why != QUIRE_OK) return why;
  const std::uint64_t module = quire::api::number_of_module(place->module);
  std::uint64_t id = 0;
  const auto why = atomically([&] {
    const std::uint32_t number = tasks.take(static_cast<unsigned>(quire_node()));
    id = 0;
    if (number == 0) return;
    task& t = tasks.at(number);
    t.module = module;
    t.offset = place->offset;
    t.argument = argument;
    t.period_ms = how.period_ms;
    t.due_ms = how.delay_ms == 0 ? 0 : now_ms() + how.delay_ms;
    t.queue = how.node < 0 ? tasks.any() : static_cast<unsigned>(how.node);
    t.priority = static_cast<unsigned>(how.priority);
    ++t.generation;
    tasks.enqueue(number);
    id = std::uint64_t{t.generation} << 32 | number;
  });
  if (why != QUIRE_OK) return why;
  if (id == 0) return explain(QUIRE_LIMIT, "quire_task_register(): %u tasks of this node are registered", tasks_of_a_node);
  if (name != nullptr) name->id = id;
  return QUIRE_OK;
}

quire_status quire_task_cancel(quire_task name) {
  QUIRE_STARTED();
  const auto number = static_cast<std::uint32_t>(name.id), generation = static_cast<std::uint32_t>(name.id >> 32);
  board tasks;
  if (const auto why = get_board("quire_task_cancel", tasks); why != QUIRE_OK) return why;
  if (number == 0 || number > tasks.places() * tasks_of_a_node || generation % 2 == 0)
    return explain(QUIRE_INVALID, "quire_task_cancel(): 0x%lx is no task that quire_task_register() has given", static_cast<unsigned long>(name.id));
  bool found = false;
  const auto why = atomically([&] {
    found = tasks.at(number).generation == generation;
    if (!found) return;
    tasks.dequeue(number);
    tasks.give_back(number);
  });
  return why == QUIRE_OK && !found ? explain(QUIRE_NOT_FOUND, "quire_task_cancel(): the task has run, or was cancelled") : why;
}

quire_status quire_loop_run(void) {
  QUIRE_STARTED();
  if (quire_in_transaction() != 0) return explain(QUIRE_INVALID, "quire_loop_run(): not within a transaction");
  board tasks;
  if (const auto why = get_board("quire_loop_run", tasks); why != QUIRE_OK) return why;
  if (g_runs.exchange(true)) return explain(QUIRE_BUSY, "quire_loop_run(): another thread of this node runs the loop");
  loop l{tasks, static_cast<unsigned>(quire_node())};
  quire_status why = QUIRE_OK;
  while (why == QUIRE_OK && !l.stopped && l.missing == 0) {
    l.attempts = 0;
    const auto step = atomically([&] { l.step(); });
    if (step == QUIRE_OK) {
      if (l.attempts == 1) l.at_once = std::min(2 * l.at_once, loop::most_at_once);
    } else if (l.at != 0) {
      quire::base::log(quire::base::log_level::warning, "a task has undone itself with status %d (%s), and does not run again", step, quire_status_text(step));
      drop(l.tasks, l.at);
      l.at_once = 1;
    } else {
      why = step;
    }
  }
  g_runs = false;
  if (l.missing == 0) return why;
  return explain(QUIRE_NOT_FOUND, "quire_loop_run(): this node has no function at 0x%lx of the module that a task names",
                 static_cast<unsigned long>(l.missing));
}

quire_status quire_loop_stop(void) {
  QUIRE_STARTED();
  board tasks;
  if (const auto why = get_board("quire_loop_stop", tasks); why != QUIRE_OK) return why;
  return atomically([&] { ++tasks.top().stops; });
}
