// SPDX-License-Identifier: BSD-3-Clause
// The driver: the one thread that may touch machines, transport and detectors now (README.md). Any thread of the node
// can be it. A thread that faults or calls sends its own request and polls for the reply. It executes meanwhile the
// operations that others have queued (flat combining). That saves two context switches a fault. When no thread waits,
// the service thread takes over, and sleeps in epoll while there is nothing to do.
//
// The service thread sleeps until the transport, which is armed, wakes it. A thread that polls takes all messages
// itself. So meanwhile the transport wakes nobody (mute). The thread that stops polling arms it again (unmute): the
// service thread is not woken at a barrier, and takes no core from threads that compute after it. While no thread of
// the node waits for another node, only urgent messages wake it (transport::urgency): an early arrival at a barrier
// does not disturb threads that compute. Where threads drive again and again, as in a sweep of faults, arming would be
// on the path of every fault. Then the service thread looks once a tick (wake_policy.hpp), and arms when they have
// stopped.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/clock.hpp"
#include "core/op.hpp"
#include "drive/wake_policy.hpp"

namespace quire::drive {

/// Whether others want the cores on which threads here would poll. A thread that polls uses up its share, and then
/// waits as long as any other, for milliseconds; one that sleeps is let in at once when it is woken. Polling threads
/// notice: they were away.
///
/// What counts is how much of the time for which they may poll they lose, and not how often polling pays meanwhile: it
/// saves microseconds a time. So the pause after which it is tried again doubles where it is soon cut off again, and is
/// forgotten by the time that passes without.
class contention {
 public:
  [[nodiscard]] bool present(std::uint64_t now) const noexcept { return now < until_.load(std::memory_order_relaxed); }
  /// The same, now. Where nothing has been noticed for a while it costs no look at the clock.
  [[nodiscard]] bool present() noexcept {
    std::uint64_t until = until_.load(std::memory_order_relaxed);
    if (until == 0) return false;
    if (base::now_ns() < until) return true;
    until_.compare_exchange_strong(until, 0, std::memory_order_relaxed);
    return false;
  }
  /// A polling thread looks at the clock, and did so `before`. True if it had to wait for its core in between: it shall
  /// sleep, and for a while nobody shall poll.
  bool noticed(std::uint64_t before, std::uint64_t now) noexcept {
    if (now - before < away_ns) return false;
    if (present(now)) return true;  // another thread has noticed the same
    if (now - before < long_away_ns) {
      until_.store(now + shortest_ns, std::memory_order_relaxed);
      return true;
    }
    const std::uint64_t last = pause_.load(std::memory_order_relaxed);
    const std::uint64_t calm = now - long_until_.load(std::memory_order_relaxed);
    std::uint64_t pause = last * 2;
    for (std::uint64_t long_enough = last * soon; pause > shortest_ns && long_enough < calm; long_enough *= 2)
      pause /= 2;
    pause = std::clamp(pause, shortest_ns, longest_ns);
    pause_.store(pause, std::memory_order_relaxed);
    until_.store(now + pause, std::memory_order_relaxed);
    long_until_.store(now + pause, std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr std::uint64_t away_ns = 200'000, shortest_ns = 5'000'000, longest_ns = 500'000'000;
  /// A thread of another node of this job that has the core meanwhile computes something, and then waits as well. So
  /// long are only the slices of those who wait for nothing, and phases beside which it costs little to sleep.
  static constexpr std::uint64_t long_away_ns = 2'000'000;
  static constexpr std::uint64_t soon =
      8;  ///< pauses: a thread that may poll for longer before it is away loses little
  std::atomic<std::uint64_t> until_{0}, long_until_{0}, pause_{0};
};

class driver {
 public:
  /// Whether a thread that waits may poll.
  [[nodiscard]] bool may_spin() noexcept { return how.spin_ns != 0 && !cores.present(); }
  /// Takes the right to drive if it is free.
  [[nodiscard]] bool try_lock() noexcept {
    return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_seq_cst);
  }
  void unlock() noexcept { held_.store(false, std::memory_order_seq_cst); }
  /// The driver calls execute(op) for all that threads have queued, oldest first.
  template <class Execute>
  void execute_queued(Execute&& execute) noexcept {
    for (core::op* o = queue.take_all(); o != nullptr;) {
      core::op* const rest = o->next;  // the op may end, and with it its memory
      execute(*o);
      o = rest;
    }
  }
  /// The driver executes an operation of its own, after all that threads have queued. So the operations of a thread are
  /// executed in the order in which the thread asked for them: one that cancels another finds it executed, wherever its
  /// time ran out. Else the cancelled one, still queued, would be executed when its stack frame is gone.
  template <class Execute>
  void execute_in_turn(core::op& own, Execute&& execute) noexcept {
    execute_queued(execute);
    execute(own);
  }

  /// The application has handlers for signals of its own, which must not run while its thread drives.
  static inline std::atomic<bool> signals_handled{false};

  core::op_queue queue;
  /// Application threads that poll now. The service thread leaves the driving to them.
  std::atomic<unsigned> polling{0};
  /// Application threads that sleep until their operation is done: so many cores are free for polling.
  std::atomic<unsigned> sleeping{0};
  /// How often one has gone to sleep: the service thread must not overlook it on its way into a tick.
  std::atomic<std::uint64_t> sleeps{0};
  /// The service thread sleeps a tick, while the transport is not armed.
  std::atomic<bool> ticking{false};
  pace how{};
  contention cores;

 private:
  std::atomic<bool> held_{false};
};

}  // namespace quire::drive
