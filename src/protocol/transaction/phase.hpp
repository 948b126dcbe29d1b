// SPDX-License-Identifier: BSD-3-Clause
// What the transaction of a node is doing: one word. To begin, and to end without having written, are a
// compare-and-swap of the thread's own; all else is the driver's. A node has one transaction at a time: its threads
// share a page table.
#pragma once

#include <cstdint>

#include "protocol/sequential/private_views.hpp"

namespace quire::transaction {

enum class phase : std::uint32_t {
  idle,
  running,     ///< a body runs; all that is mapped is one committed state
  committing,  ///< its writes are being pinned
  doomed,      ///< something that it may have seen was taken away: it sees no more, and begins again
  over,        ///< it has happened, or is undone: nothing dooms it any more, and the next has not begun
};

class phase_word : public sequential::private_views {
 public:
  [[nodiscard]] phase now() const noexcept { return of(load()); }
  /// A thread begins. False if another runs, or waits. Any thread.
  [[nodiscard]] bool try_begin() noexcept { return exchange(number(phase::idle), number(phase::running)); }
  /// The transaction of the calling thread, which has written nothing, ends. False if it is doomed, or another waits.
  [[nodiscard]] bool try_end() noexcept { return exchange(number(phase::running), number(phase::idle)); }

  // Driver's thread.
  /// From now on threads come to the driver to begin and to end. What the phase was.
  phase attract() noexcept { return of(__atomic_fetch_or(&word_, waiting, __ATOMIC_ACQ_REL)); }
  /// `others_wait`: for the transaction to end.
  void set(phase p, bool others_wait) noexcept {
    __atomic_store_n(&word_, number(p) | (others_wait ? waiting : 0), __ATOMIC_RELEASE);
  }
  /// Of a transaction whose thread waits for the driver.
  void change(phase p) noexcept { set(p, (__atomic_load_n(&word_, __ATOMIC_RELAXED) & waiting) != 0); }
  /// The same: it is over, unless it is doomed, or was over before.
  void end() noexcept {
    if (can_be_doomed(now())) change(phase::over);
  }
  /// Whoever runs is doomed. True if somebody does who was not.
  bool doom() noexcept {
    for (;;) {
      const std::uint32_t before = load();
      if (!can_be_doomed(of(before))) return false;
      if (exchange(before, number(phase::doomed) | (before & waiting))) return true;
    }
  }

 private:
  static constexpr std::uint32_t waiting = 1u << 8, marks = used | closed;
  static constexpr bool can_be_doomed(phase p) noexcept { return p == phase::running || p == phase::committing; }
  static constexpr std::uint32_t number(phase p) noexcept {
    return static_cast<std::uint32_t>(p) | (p != phase::idle ? used : 0) | (p == phase::doomed ? closed : 0);
  }
  static constexpr phase of(std::uint32_t word) noexcept { return static_cast<phase>(word & ~(waiting | marks)); }
  bool exchange(std::uint32_t from, std::uint32_t to) noexcept {
    return __atomic_compare_exchange_n(&word_, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }
};

}  // namespace quire::transaction
