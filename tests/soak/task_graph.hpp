// SPDX-License-Identifier: BSD-3-Clause
// Random graphs of tasks without data races: a task reads a chunk only after the task that wrote it, and writes one
// only after all that read it before. The same on all nodes, from a seed; no memory is shared here.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <vector>

#include "../process/node.hpp"

namespace quire::test {

constexpr std::size_t most_tasks = 160;

/// How a task is told that another one is done.
enum class edge_kind : std::uint8_t { event, semaphore, condition, rwlock, atomic, pin, count };

struct edge {
  std::size_t from;
  edge_kind kind;
};
/// A chunk, and how often it has been written: its content follows from that.
struct version {
  std::size_t chunk = 0;
  std::uint64_t number = 0;
};

struct task {
  std::size_t worker = 0;
  std::vector<edge> after{};
  std::vector<version> reads{};
  std::vector<version> writes{};  ///< one or none
  std::bitset<static_cast<std::size_t>(edge_kind::count)> tells{};
  std::uint64_t semaphore_waiters = 0;
};

class task_graph {
 public:
  task_graph(std::size_t workers, std::size_t tasks, std::size_t chunks, std::size_t kinds)
      : workers_(workers), kinds_(kinds), tasks_(tasks), newest_(chunks, 0) {}

  /// Another graph, over chunks that are as the last one has left them.
  void draw(std::uint64_t seed) {
    random_numbers random(mix(seed));
    std::fill(tasks_.begin(), tasks_.end(), task{});
    before_.assign(tasks_.size(), {});
    last_writer_.assign(newest_.size(), none);
    readers_.assign(newest_.size(), {});
    std::vector<std::size_t> last_of(workers_, none);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      task& t = tasks_[i];
      t.worker = random.below(workers_);
      if (last_of[t.worker] != none) follows(i, last_of[t.worker]);
      last_of[t.worker] = i;
      if (i > 0) draw_edges(i, random);
      draw_reads(i, random);
      draw_write(i, random);
    }
  }
  [[nodiscard]] const std::vector<task>& tasks() const { return tasks_; }
  /// How often each chunk has been written once the graph is done.
  [[nodiscard]] const std::vector<std::uint64_t>& newest() const { return newest_; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  void follows(std::size_t task, std::size_t earlier) {
    before_[task] |= before_[earlier];
    before_[task].set(earlier);
  }
  [[nodiscard]] bool is_after(std::size_t task, std::size_t earlier) const {
    return earlier == none || earlier == task || before_[task][earlier];
  }

  void draw_edges(std::size_t i, random_numbers& random) {
    for (std::uint64_t left = random.below(4); left > 0; --left) {
      const std::size_t from = i - 1 - random.below(std::min<std::size_t>(i, 20));
      const auto kind = static_cast<edge_kind>(random.below(kinds_));
      if (tasks_[from].worker == tasks_[i].worker) continue;
      tasks_[i].after.push_back({from, kind});
      tasks_[from].tells.set(static_cast<std::size_t>(kind));
      if (kind == edge_kind::semaphore) ++tasks_[from].semaphore_waiters;
      follows(i, from);
    }
  }
  void draw_reads(std::size_t i, random_numbers& random) {
    for (int tries = 0; tries < 12; ++tries) {
      const std::size_t chunk = random.below(newest_.size());
      if (!is_after(i, last_writer_[chunk])) continue;
      tasks_[i].reads.push_back({chunk, newest_[chunk]});
      readers_[chunk].push_back(i);
    }
  }
  void draw_write(std::size_t i, random_numbers& random) {
    for (int tries = 0; tries < 30; ++tries) {
      const std::size_t chunk = random.below(newest_.size());
      const auto& readers = readers_[chunk];
      if (!is_after(i, last_writer_[chunk]) ||
          !std::all_of(readers.begin(), readers.end(), [&](std::size_t r) { return is_after(i, r); }))
        continue;
      tasks_[i].writes.push_back({chunk, ++newest_[chunk]});
      last_writer_[chunk] = i;
      readers_[chunk].clear();
      return;
    }
  }

  std::size_t workers_, kinds_;
  std::vector<task> tasks_;
  std::vector<std::uint64_t> newest_;
  std::vector<std::bitset<most_tasks>> before_{};  ///< all tasks that are done before one begins
  std::vector<std::size_t> last_writer_{};
  std::vector<std::vector<std::size_t>> readers_{};  ///< of a chunk, since it was written
};

}  // namespace quire::test
