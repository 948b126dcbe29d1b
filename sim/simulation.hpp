// SPDX-License-Identifier: BSD-3-Clause
// A cluster on the virtual network, with random timing: the same seed gives the same run. Besides what the checkers of the
// cluster find, it reports waits that are longer than the protocol allows (the progress bound) and threads that are left over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/bare/sequential_cluster.hpp"
#include "sim/network.hpp"

namespace quire::sim {

struct timing {
  time_ns think = 5'000;            ///< up to this long between two operations of a thread
  time_ns retry_least = 0;          ///< from a wake to the thread's next try
  time_ns retry = 3'000;            ///< at most
  time_ns patience = 40'000;        ///< pin_or_give_up waits up to this long
  time_ns hold = 50'000;            ///< a hold of strength s lasts hold * 2^(s-1)
  unsigned interrupt_percent = 25;  ///< between two actions of a step, a thread of the node uses what it has mapped
};

struct statistics {
  std::uint64_t operations = 0, events = 0, messages = 0, faults = 0;
  std::uint64_t losses = 0;       ///< faults of threads that had been let in for the same access before
  std::uint32_t most_faults = 0;  ///< of one operation
  std::uint64_t holds = 0, pins = 0, given_up = 0;
  time_ns longest_wait = 0, took = 0;

  /// Sums, and the largest of the maxima.
  statistics& operator+=(const statistics& other) noexcept;
};

struct result {
  std::string failure{};  ///< empty: all went well. Else what was wrong, the seed, and the end of the trace.
  statistics count{};
};

class simulation final : private surroundings {
 public:
  simulation(const network_options& net, const cluster_options& shape, const timing& times, std::vector<script> scripts);

  /// The node dies `when` the clock says so; each survivor is told up to `news` later.
  void kill_at(node_id node, time_ns when, time_ns news);
  /// Until all threads have finished, nothing is left to happen, or something is wrong.
  [[nodiscard]] result run();
  [[nodiscard]] cluster& nodes() noexcept { return nodes_; }

 private:
  void send(node_id from, node_id to, const message& m, std::span<const std::byte> payload) override;
  void go_on(std::size_t thread) override;
  void waits(std::size_t thread) override;
  void hold(node_id node, std::uint64_t unit, unsigned strength) override;
  void between_actions(node_id node) override;
  void pinned(std::size_t thread, std::uint64_t unit, bool begins) override;
  void note(node_id node, const char* what, std::uint64_t a, std::uint64_t b) override { net_.note(node, what, a, b); }

  void try_thread(std::size_t thread);
  void stop_if_wrong();
  /// No wait may be longer, holds and pins apart: a request reaches its manager in one delay, at most one request of each node and one
  /// call of each thread are before it, and none takes more than five messages one after the other.
  [[nodiscard]] time_ns longest_wait_allowed() const noexcept;

  struct wait {
    time_ns since = 0;
    time_ns held_before = 0;  ///< all holds and pins of the run until then
    bool waits = false;
    std::uint64_t number = 0;  ///< of the thread's waits
  };
  network net_;
  cluster nodes_;
  timing times_;
  std::vector<wait> waits_;
  time_ns held_ = 0;         ///< time of all holds, and of all times in which threads had units pinned
  unsigned pins_ = 0;        ///< of all threads, now
  time_ns pinned_since_ = 0;
  bool deaths_ = false;
  statistics count_{};
};

}  // namespace quire::sim
