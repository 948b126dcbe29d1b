// SPDX-License-Identifier: BSD-3-Clause
// quire_queue: a work queue between nodes, as one writes it with threads: a ring of tasks, a mutex and two conditions
// in shared memory. Node 0 puts tasks in, all others take them out. Beside it, in turns, a mutex that each node had
// last before the other: what a move of a lock costs by itself. With two nodes a task needs two such moves at most, and
// the page that the ring lies in.
#include <array>
#include <cstdio>

#include <quire/quire.hpp>

#include "common/job.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"
#include "common/traffic.hpp"

namespace {

struct settings {
  std::uint64_t tasks = 500, rounds = 10, slots = 16, work_us = 0;
};

void meet() { quire::barrier{}.arrive_and_wait(); }

/// Bounded, for any number of producers and consumers. Lies in shared memory.
class task_queue {
 public:
  explicit task_queue(std::uint64_t slots) : slots_(std::min<std::uint64_t>(slots, most_slots)) {}

  void put(std::uint64_t task) {
    {
      std::unique_lock guard(mutex_);
      not_full_.wait(guard, [&] { return tail_ - head_ < slots_; });
      ring_[tail_++ % most_slots] = task;
    }
    not_empty_.notify_one();
  }
  [[nodiscard]] std::uint64_t take() {
    std::uint64_t task = 0;
    {
      std::unique_lock guard(mutex_);
      not_empty_.wait(guard, [&] { return tail_ != head_; });
      task = ring_[head_++ % most_slots];
    }
    not_full_.notify_one();
    return task;
  }
  void destroy() {
    not_full_.destroy();
    not_empty_.destroy();
    mutex_.destroy();
  }

  static constexpr std::uint64_t most_slots = 256;

 private:
  quire::mutex mutex_ = quire::mutex::create();
  quire::condition_variable not_empty_ = quire::condition_variable::create(),
                            not_full_ = quire::condition_variable::create();
  std::uint64_t head_ = 0, tail_ = 0, slots_;
  std::array<std::uint64_t, most_slots> ring_{};
};

void work(std::uint64_t microseconds) {
  const std::uint64_t end = bench::now_ns() + microseconds * 1000;
  while (microseconds != 0 && bench::now_ns() < end) continue;
}

/// All tasks of a round through the queue; 0 tells a consumer to stop. The sum of the tasks that this node took.
std::uint64_t run_tasks(const quire::session& job, task_queue& queue, const settings& wanted) {
  std::uint64_t sum = 0;
  if (job.node() == 0) {
    for (std::uint64_t i = 1; i <= wanted.tasks; ++i) queue.put(i);
    for (int node = 1; node < job.nodes(); ++node) queue.put(0);
  } else {
    while (const std::uint64_t task = queue.take()) {
      sum += task;
      work(wanted.work_us);
    }
  }
  return sum;
}

/// Locking and unlocking where another node was the last to have it; node 1 measures.
void move_lock(const quire::session& job, quire::mutex mutex, bench::samples& times) {
  constexpr int moves = 100;
  for (int i = 0; i < moves; ++i) {
    if (job.node() == i % 2) {
      const auto lock_and_unlock = [&] {
        mutex.lock();
        mutex.unlock();
      };
      if (job.node() == 1) {
        times.time(lock_and_unlock);
      } else {
        lock_and_unlock();
      }
    }
    meet();
  }
}

void run(const settings& wanted) {
  const quire::session job;
  if (job.nodes() < 2) throw std::runtime_error("this needs 2 nodes or more: quire run -n 2");
  auto* const queue = quire::from_node(0, [&] { return quire::new_object<task_queue>(wanted.slots); });
  auto mutex = quire::from_node(0, quire::mutex::create);
  bench::samples task("task", "us"), lock("lock_unlock", "us");
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    move_lock(job, mutex, lock);
    const std::uint64_t start = bench::now_ns();
    const std::uint64_t sum = run_tasks(job, *queue, wanted);
    meet();
    task.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(wanted.tasks));
    const auto all = quire::all_reduce(static_cast<std::int64_t>(sum), quire::operation::sum);
    if (static_cast<std::uint64_t>(all) != wanted.tasks * (wanted.tasks + 1) / 2)
      throw std::runtime_error("tasks were lost or done twice");
  }
  if (job.node() == 1) {
    lock.print();
    task.print();
  }
  meet();
  const bench::traffic tasks_only;
  (void)run_tasks(job, *queue, wanted);
  meet();
  tasks_only.print("task", static_cast<double>(wanted.tasks));
  meet();
  if (job.node() != 0) return;
  mutex.destroy();
  queue->destroy();
  quire::delete_object(queue);
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here(
      "A work queue by a mutex and two conditions; node 0 puts, all others take. Start it as `quire run -n 2 "
      "quire_queue`.");
  here.add_number("--tasks", wanted.tasks, 1, 1'000'000, "of a round");
  here.add_number("--rounds", wanted.rounds, 1, 10'000, "");
  here.add_number("--slots", wanted.slots, 1, task_queue::most_slots, "of the queue");
  here.add_number("--work", wanted.work_us, 0, 1'000'000, "microseconds that a task takes");
  return here.run(argc, argv, [&] { run(wanted); });
}
