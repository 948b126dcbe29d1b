// SPDX-License-Identifier: BSD-3-Clause
// The workers of an application on another system: one on each node. The counterpart of apps/common/crew.hpp, for
// sor.cpp and cg.cpp; main thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "common/partition.hpp"
#include "common/report.hpp"
#include "common/stopwatch.hpp"
#include "common/worker.hpp"
#include "peers/system.h"

namespace peers {

/// Shared memory of which node i is the home of bytes [begin[i], begin[i + 1]), as far as pages can be divided so.
template <class Value>
[[nodiscard]] Value* allocate_blocks(std::vector<std::size_t> begin) {
  for (std::size_t& at : begin) at = (at + apps::page_bytes - 1) / apps::page_bytes * apps::page_bytes;
  return static_cast<Value*>(system_allocate_blocks(begin.data()));
}

/// One on each node, after the start.
///
/// Neither system has a reduction that works (JIAJIA's jia_recv() takes the mark of a message's end away before it
/// looks for it), so sums go through shared memory: each node writes its values to a page of its own, and reads those
/// of all after a barrier. Two sets of pages in turn: a node that is ahead writes to one while others still read the
/// other.
class node_worker {
 public:
  node_worker() {
    std::vector<std::size_t> begin(count() + 1);
    for (std::size_t node = 0; node < count(); ++node) begin[node + 1] = begin[node] + apps::page_bytes;
    for (double*& set : sets_) set = allocate_blocks<double>(begin);
  }

  [[nodiscard]] std::size_t number() const { return static_cast<std::size_t>(system_node()); }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(system_nodes()); }
  [[nodiscard]] std::size_t thread() const { return 0; }
  void wait() { system_barrier(); }
  void will_read(std::span<const double>) {}
  void will_write(std::span<const double>) {}
  template <std::size_t N>
  [[nodiscard]] std::array<double, N> sum(const std::array<double, N>& mine) {
    constexpr std::size_t page_values = apps::page_bytes / sizeof(double);
    double* const set = sets_[sums_++ % 2];
    std::copy(mine.begin(), mine.end(), set + number() * page_values);
    system_barrier();
    std::array<double, N> total;
    std::copy_n(set, N, total.begin());
    for (std::size_t node = 1; node < count(); ++node)
      for (std::size_t i = 0; i < N; ++i) total[i] += set[node * page_values + i];
    return total;
  }
  [[nodiscard]] double sum(double mine) { return sum(std::array{mine})[0]; }

 private:
  std::array<double*, 2> sets_{};
  std::size_t sums_ = 0;
};
static_assert(apps::worker<node_worker>);

/// Runs set_up(), then compute(), on every node, and fills in the times of the report as node 0 sees them, between
/// barriers.
template <class SetUp, class Compute>
void run(apps::report& result, const SetUp& set_up, const Compute& compute) {
  result.nodes = system_nodes();
  system_barrier();
  const apps::stopwatch set_up_watch;
  set_up();
  system_barrier();
  result.set_up_s = set_up_watch.seconds();
  const apps::stopwatch watch;
  compute();
  system_barrier();
  result.time_s = watch.seconds();
}

}  // namespace peers
