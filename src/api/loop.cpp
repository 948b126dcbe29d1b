// SPDX-License-Identifier: BSD-3-Clause
// The loop of registered transactions: each node takes tasks from the board (loop_board.hpp), and runs them. It does so
// in one of two ways:
//
//   at once       a transaction takes a task, and runs it, or several. Of all that other nodes do with the same queue
//                 meanwhile one of the two is undone: right for short tasks, of which a transaction has many
//   one by one    a transaction takes a task into the node's hand; the next one removes it there, and runs it. While it
//                 runs the node has nothing mapped of what nodes have in common, so that only what the task itself has
//                 used can undo it: right for long ones
//
// Either way a task is gone if and when the transaction that runs it has happened. A task in a hand is like one in a
// queue: a checkpoint has it, and it can be cancelled. Application threads.
#include <quire/loop.h>
#include <quire/transaction.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>

#include "runtime/forward.hpp"
#include "api/function_place.hpp"
#include "api/loop.hpp"
#include "services/task_board.hpp"
#include "runtime/runtime.hpp"
#include "api/transactions.hpp"
#include "api/versions.hpp"
#include "base/log.hpp"

namespace {

using quire::base::explain;

using board = quire::services::task_board;
using quire::services::task;
namespace transactions = quire::api::transactions;

constexpr unsigned usual_priority = 4;
constexpr const char* board_name = "quire.loop";

/// Of all hosts alike, about.
std::uint64_t now_ms() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
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
  about.unit_bytes = board::page_bytes;
  quire_region region{};
  if (const auto why = quire_region_create(&about, board::bytes_for(places), &region); why != QUIRE_OK) return why;
  if (const auto why = quire_region_range(region, &at, nullptr); why != QUIRE_OK) return why;
  if (const auto why = atomically([&] { static_cast<board::head*>(at)->places = places; }); why != QUIRE_OK) return why;
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
      return explain(QUIRE_INVALID,
                     "%s(): the first call of the job that concerns tasks cannot be within a transaction", call);
    if (why != QUIRE_OK) return why;
  }
  const auto places = static_cast<const volatile board::head*>(at)->places;  // it never changes
  if (static_cast<std::uint64_t>(quire_nodes()) > places) {
    return explain(QUIRE_LIMIT, "%s(): the checkpoint that the job went on from has room for tasks of %lu nodes", call,
                   static_cast<unsigned long>(places));
  }
  if (!inside) known.store(at, std::memory_order_release);
  found = {static_cast<std::byte*>(at), static_cast<unsigned>(places)};
  return QUIRE_OK;
}

/// Of the calling thread: what others do on its processor does not make a task long.
std::uint64_t computed_ns() noexcept {
  timespec t{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

/// This node's loop takes tasks one by one.
std::atomic<bool> g_one_by_one{false};

/// In a transaction that uses the board, beside tasks that run for long: later ones have not read it.
void hide_board(const board& tasks) noexcept {
  if (g_one_by_one.load(std::memory_order_relaxed)) transactions::hide_afterwards(tasks.begin(), tasks.common_bytes());
}

/// A node's way through its tasks.
class loop {
 public:
  loop(const board& tasks, unsigned self) : tasks_(tasks), self_(self) {}
  /// Until it is to stop.
  quire_status run() {
    quire_status why = QUIRE_OK;
    while (why == QUIRE_OK && !stopped_ && missing_ == 0) {
      g_one_by_one.store(one_by_one_, std::memory_order_relaxed);
      why = one_by_one_ ? take_and_run() : run_at_once();
    }
    g_one_by_one.store(false, std::memory_order_relaxed);
    return why;
  }
  /// Not 0: this node has no such function.
  [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }

 private:
  static constexpr unsigned most_at_once = 64;
  static constexpr std::uint64_t long_ns =
      500'000;  ///< for a transaction: as long as some messages take, and the faults of those it is made of

  quire_status run_at_once() {
    attempts_ = number_ = 0;
    const auto why = atomically([&] { run_some(); });
    if (why != QUIRE_OK) return drop(why);
    if (took_ns_ > long_ns) {
      one_by_one_ = at_once_ == 1;
      at_once_ = std::max(1u, at_once_ / 2);
    } else if (attempts_ == 1 && 2 * took_ns_ <= long_ns) {
      at_once_ = std::min(2 * at_once_, most_at_once);
    }
    return QUIRE_OK;
  }

  quire_status take_and_run() {
    number_ = 0;
    if (const auto why = atomically([&] { take(); }); why != QUIRE_OK || stopped_ || missing_ != 0) return why;
    if (!takes_) return run_at_once();
    attempts_ = number_ = 0;
    const auto why = atomically([&] { run_taken(); });
    if (why == QUIRE_OK) one_by_one_ = took_ns_ > long_ns;
    return why == QUIRE_OK ? why : drop(why);
  }

  // ---- Bodies
  /// Takes some tasks, and runs them.
  void run_some() {
    begin();
    at_once_ = attempts_ > 1 ? std::max(1u, at_once_ / 2) : at_once_;
    run_up_to(at_once_);
    took_ns_ = computed_ns() - began_ns_;
  }

  /// A task goes into the hand. One of those that come again stays where it is, to be run at once.
  void take() {
    hide_board(tasks_);
    missing_ = 0;
    if (stops()) return;
    if (tasks_.in(self_).ended >= board::most_ended / 2) tasks_.give_ended_back(self_);
    takes_ = true;
    if (tasks_.in(self_).number != 0) return;  // one that has thrown an exception
    std::uint64_t due = 0;
    const std::uint64_t now = now_ms();
    const std::uint32_t number = tasks_.find(self_, now, due);
    if (number == 0) wait(now, due);
    (void)function_of(tasks_.at(number).module, tasks_.at(number).offset);
    if (missing_ != 0) return;
    takes_ = tasks_.at(number).period_ms == 0;
    if (takes_) tasks_.take(self_, number);
  }

  void run_taken() {
    begin();
    hide_board(tasks_);
    const board::hand& h = tasks_.in(self_);
    took_ns_ = 0;
    if (transactions::has_retried()) {  // it waits, while others may come that are more urgent
      tasks_.put_back(self_);
      run_up_to(1);
      took_ns_ = computed_ns() - began_ns_;
      return;
    }
    transactions::let_retries_wait(false);
    number_ = h.number;
    if (number_ == 0) return;  // it was cancelled
    generation_ = h.generation;
    const std::uint64_t function = function_of(h.module, h.offset), argument = h.argument;
    if (missing_ != 0) return tasks_.put_back(self_);
    tasks_.in(self_).number = 0;
    tasks_.end(self_, number_);
    call(function, argument);
    took_ns_ = computed_ns() - began_ns_;
  }

  void begin() noexcept {
    ++attempts_;
    missing_ = 0;
    began_ns_ = computed_ns();
  }

  void run_up_to(unsigned count) {
    for (unsigned ran = 0; ran < count; ++ran) {
      if (stops()) return;
      std::uint64_t due = 0;
      const std::uint64_t now = now_ms();
      number_ = tasks_.find(self_, now, due);
      if (number_ == 0 && ran != 0) return;
      if (number_ == 0) wait(now, due);
      transactions::let_retries_wait(ran == 0);  // what a task waits for may need those before it to have happened
      run_one(now);
      if (missing_ != 0) return;
    }
  }

  void run_one(std::uint64_t now) {
    task& t = tasks_.at(number_);
    const std::uint64_t function = function_of(t.module, t.offset), argument = t.argument;
    if (missing_ != 0) return;
    generation_ = t.generation;
    (void)tasks_.dequeue(number_);
    if (t.period_ms == 0) {
      tasks_.end(self_, number_);
    } else {
      t.due_ms = now + t.period_ms;
      tasks_.enqueue(number_);
    }
    call(function, argument);
  }

  static void call(std::uint64_t function, std::uint64_t argument) {
    reinterpret_cast<void (*)(std::uint64_t)>(function)(argument);
  }

  std::uint64_t function_of(std::uint64_t module, std::uint64_t offset) {
    const std::uint64_t function = quire::api::function_at(module, offset);
    missing_ = function == 0 ? offset : 0;
    return function;
  }

  [[nodiscard]] bool stops() {
    stopped_ = tasks_.top().stops != tasks_.made_by(self_).stops;
    if (!stopped_) return false;
    tasks_.made_by(self_).stops = tasks_.top().stops;
    tasks_.put_back(self_);
    tasks_.give_ended_back(self_);
    return true;
  }

  [[noreturn]] void wait(std::uint64_t now, std::uint64_t due) {
    attempts_ = 0;
    transactions::retry_within(due == 0 ? -1 : static_cast<std::int64_t>(due - now));
  }

  // ---- Outside of transactions
  /// A task that has undone itself must not come again.
  quire_status drop(quire_status why) {
    if (number_ == 0) return why;
    quire::base::log(quire::base::log_level::warning,
                     "a task has undone itself with status %d (%s), and does not run again", why,
                     quire_status_text(why));
    at_once_ = 1;
    return atomically([&] { (void)tasks_.remove(number_, generation_); });
  }

  board tasks_;
  unsigned self_;
  bool one_by_one_ = true;                     ///< until it is known that tasks are short
  unsigned at_once_ = 1;                       ///< tasks that are to be one transaction
  unsigned attempts_ = 0;                      ///< of this one
  std::uint32_t number_ = 0, generation_ = 0;  ///< of the task that it is at
  std::uint64_t began_ns_ = 0, took_ns_ = 0;   ///< the last attempt, without its commit
  std::uint64_t missing_ = 0;
  bool takes_ = false;  ///< there is a task in the hand
  bool stopped_ = false;
};

std::atomic<bool> g_runs{false};

}  // namespace

quire_status quire::api::go_on_with_tasks() {
  void* at = nullptr;
  if (quire_lookup(board_name, 0, &at) != QUIRE_OK) return QUIRE_OK;
  const board tasks(static_cast<std::byte*>(at),
                    static_cast<unsigned>(static_cast<const volatile board::head*>(at)->places));
  quire_region region{};
  std::size_t bytes = 0;
  if (const auto why = quire_region_of(at, &region); why != QUIRE_OK) return why;
  if (const auto why = quire_region_range(region, nullptr, &bytes); why != QUIRE_OK) return why;
  if (bytes < board::bytes_for(tasks.places()))
    return base::explain(QUIRE_INVALID,
                         "quire_restore(): the tasks of the checkpoint are those of an older version of Quire");
  return atomically([&] { tasks.go_on(static_cast<unsigned>(quire_nodes())); });
}

quire_status quire_task_register(void (*function)(std::uint64_t), std::uint64_t argument,
                                 const quire_task_options* options, quire_task* name) {
  QUIRE_STARTED();
  if (function == nullptr) return explain(QUIRE_INVALID, "quire_task_register(): the function is NULL");
  quire_task_options how{};
  how.node = -1;
  how.priority = usual_priority;
  if (options != nullptr && !quire::api::take(options, how, "quire_task_register", "quire_task_options"))
    return QUIRE_INVALID;
  if (how.node < -1 || how.node >= quire_nodes())
    return explain(QUIRE_INVALID, "quire_task_register(): there is no node %d; the job has %d", how.node,
                   quire_nodes());
  if (how.priority < 0 || how.priority >= static_cast<int>(board::priorities))
    return explain(QUIRE_INVALID, "quire_task_register(): the priority is %d, and not 0 to 7", how.priority);
  constexpr std::uint64_t longest_ms = std::uint64_t{1} << 50;
  if (how.delay_ms > longest_ms || how.period_ms > longest_ms)
    return explain(QUIRE_INVALID, "quire_task_register(): delay_ms and period_ms are at most 2^50");
  const auto place = quire::api::place_of(reinterpret_cast<std::uint64_t>(function));
  if (!place) {
    return explain(QUIRE_INVALID,
                   "quire_task_register(): %p is no function of the program or of a library that it has loaded",
                   reinterpret_cast<void*>(function));
  }
  board tasks;
  if (const auto why = get_board("quire_task_register", tasks); why != QUIRE_OK) return why;
  const std::uint64_t module = quire::api::number_of_module(place->module);
  std::uint64_t id = 0;
  const auto why = atomically([&] {
    hide_board(tasks);
    const std::uint32_t number = tasks.make(static_cast<unsigned>(quire_node()));
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
  if (id == 0)
    return explain(QUIRE_LIMIT, "quire_task_register(): %u tasks of this node are registered", board::tasks_of_a_node);
  if (name != nullptr) name->id = id;
  return QUIRE_OK;
}

quire_status quire_task_cancel(quire_task name) {
  QUIRE_STARTED();
  const auto number = static_cast<std::uint32_t>(name.id), generation = static_cast<std::uint32_t>(name.id >> 32);
  board tasks;
  if (const auto why = get_board("quire_task_cancel", tasks); why != QUIRE_OK) return why;
  if (number == 0 || number > tasks.places() * board::tasks_of_a_node || generation % 2 == 0)
    return explain(QUIRE_INVALID, "quire_task_cancel(): 0x%lx is no task that quire_task_register() has given",
                   static_cast<unsigned long>(name.id));
  bool found = false;
  const auto why = atomically([&] {
    hide_board(tasks);
    found = tasks.remove(number, generation);
  });
  return why == QUIRE_OK && !found ? explain(QUIRE_NOT_FOUND, "quire_task_cancel(): the task has run, or was cancelled")
                                   : why;
}

quire_status quire_loop_run(void) {
  QUIRE_STARTED();
  if (quire_in_transaction() != 0) return explain(QUIRE_INVALID, "quire_loop_run(): not within a transaction");
  board tasks;
  if (const auto why = get_board("quire_loop_run", tasks); why != QUIRE_OK) return why;
  if (g_runs.exchange(true)) return explain(QUIRE_BUSY, "quire_loop_run(): another thread of this node runs the loop");
  struct running {
    ~running() { g_runs = false; }  // also where a task throws an exception
  } here;
  loop l(tasks, static_cast<unsigned>(quire_node()));
  const quire_status why = l.run();
  if (l.missing() == 0) return why;
  return explain(QUIRE_NOT_FOUND,
                 "quire_loop_run(): this node has no function at 0x%lx of the module that a task names",
                 static_cast<unsigned long>(l.missing()));
}

quire_status quire_loop_stop(void) {
  QUIRE_STARTED();
  board tasks;
  if (const auto why = get_board("quire_loop_stop", tasks); why != QUIRE_OK) return why;
  return atomically([&] {
    hide_board(tasks);
    ++tasks.top().stops;
  });
}
