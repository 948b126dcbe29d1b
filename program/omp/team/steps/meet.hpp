// SPDX-License-Identifier: BSD-3-Clause
// The atomic steps of a barrier in which threads run tasks, on one node. Pure: what else a thread does there is the
// node's, which omp/team/meet.cpp gives, or a test (tests/openmp/steps).
#pragma once

#include <atomic>
#include <cstdint>

namespace quire::program::steps {

/// How many threads have come, in all rounds; the round that has closed on this node, and the one that is over.
template <class Word>
struct meeting_words {
  Word arrived{0}, closed{0}, released{0};
};

/// All threads of the node have come for this round, and the caller finds that nothing is left to do here. True: it is
/// the one that closes the round.
template <class Words, class Node>
[[nodiscard]] bool close(Words& m, Node& node, std::uint64_t round) noexcept {
  if (m.arrived.load(std::memory_order_acquire) < round * node.threads_here()) return false;
  if (m.closed.load(std::memory_order_acquire) >= round || !node.is_idle()) return false;
  std::uint64_t last = round - 1;
  return m.closed.compare_exchange_strong(last, round);
}

/// The caller comes to a round, and runs tasks until that is over, or the node leaves it early.
template <class Words, class Node>
void meet(Words& m, Node& node, std::uint64_t round) noexcept {
  m.arrived.fetch_add(1, std::memory_order_acq_rel);
  node.tell();
  unsigned idle = 0;
  for (auto watch = node.watch();;) {
    watch.look();
    node.look_around();
    if (m.released.load(std::memory_order_acquire) >= round || node.leaves_early()) return;
    if (node.run_any()) {
      idle = 0;
      continue;
    }
    if (close(m, node, round)) node.on_closed(round);
    if (++idle > Node::soon) node.ask_for_tasks();
    if (m.released.load(std::memory_order_acquire) < round) watch.wait();
  }
}

}  // namespace quire::program::steps
