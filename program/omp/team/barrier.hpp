// SPDX-License-Identifier: BSD-3-Clause
// Where the threads of one node in a team wait for each other. Private memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "program/omp/team/patience.hpp"

namespace quire::program {

class node_barrier {
 public:
  /// The last of `count` threads runs `last` before any goes on.
  template <class F>
  void wait(int count, F&& last) noexcept {
    const std::uint32_t round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(count)) {
      arrived_.store(0, std::memory_order_relaxed);
      last();
      round_.store(round + 1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    wait_while(round_, round, count);
  }

 private:
  std::atomic<std::uint32_t> arrived_{0}, round_{0};
};

}  // namespace quire::program
