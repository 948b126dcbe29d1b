// SPDX-License-Identifier: BSD-3-Clause
// What the transaction of a node is doing: one word. To begin, and to end without having written, are a compare-and-swap of the thread's own; all else
// is the driver's. A node has one transaction at a time: its threads share a page table.
#pragma once

#include <atomic>
#include <cstdint>

namespace quire::transaction {

enum class phase : std::uint32_t {
  idle,
  running,     ///< a body runs; all that is mapped is one committed state
  committing,  ///< its writes are being pinned
  doomed,      ///< something that it may have seen was taken away: it sees no more, and begins again
};

class phase_word {
 public:
  [[nodiscard]] phase now() const noexcept { return static_cast<phase>(word_.load(std::memory_order_acquire) & ~waiting); }
  /// A thread begins. False if another runs, or waits. Any thread.
  [[nodiscard]] bool try_begin() noexcept {
    std::uint32_t idle = 0;
    return word_.compare_exchange_strong(idle, number(phase::running), std::memory_order_acq_rel);
  }
  /// The transaction of the calling thread, which has written nothing, ends. False if it is doomed, or another waits.
  [[nodiscard]] bool try_end() noexcept {
    std::uint32_t running = number(phase::running);
    return word_.compare_exchange_strong(running, 0, std::memory_order_acq_rel);
  }

  // Driver's thread.
  /// From now on threads come to the driver to begin and to end. What the phase was.
  phase attract() noexcept { return static_cast<phase>(word_.fetch_or(waiting, std::memory_order_acq_rel) & ~waiting); }
  /// `others_wait`: for the transaction to end.
  void set(phase p, bool others_wait) noexcept { word_.store(number(p) | (others_wait ? waiting : 0), std::memory_order_release); }
  /// Of a transaction whose thread waits for the driver.
  void change(phase p) noexcept { set(p, (word_.load(std::memory_order_relaxed) & waiting) != 0); }
  /// Whoever runs is doomed. True if somebody does who was not.
  bool doom() noexcept {
    std::uint32_t before = word_.load(std::memory_order_acquire);
    for (;;) {
      const auto p = static_cast<phase>(before & ~waiting);
      if (p != phase::running && p != phase::committing) return false;
      if (word_.compare_exchange_weak(before, number(phase::doomed) | (before & waiting), std::memory_order_acq_rel)) return true;
    }
  }

 private:
  static constexpr std::uint32_t waiting = 1u << 8;
  static constexpr std::uint32_t number(phase p) noexcept { return static_cast<std::uint32_t>(p); }
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace quire::transaction
