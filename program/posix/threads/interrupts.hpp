// SPDX-License-Identifier: BSD-3-Clause
// A signal that ends a call of the kernel, with EINTR, or lets in another signal that its thread blocks. It is one that
// libc keeps for itself, and that no mask of the program has.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace quire::program {

/// The call that a thread is in. Private to its node.
class interruptible {
 public:
  // By its thread. A handler of the program may make calls within a call.
  /// `turn`: others end the call of this number, and no later one.
  void begin(std::uint32_t turn) noexcept;
  /// Whether somebody has ended it.
  bool end() noexcept;

  // By any thread of the node.
  [[nodiscard]] bool is_inside() const noexcept { return step_of(state_.load()) != outside; }
  /// Whether the call of this number has begun, or is over, and no later one has begun.
  [[nodiscard]] bool has_begun(std::uint32_t turn) const noexcept { return state_.load() / mask == turn; }
  /// The thread may not have reached the kernel: again, until this says false. Then the call is over.
  bool interrupt(std::uint32_t turn) noexcept;
  /// Where it is inside.
  [[nodiscard]] pid_t thread() const noexcept { return thread_; }
  /// Somebody does so where the call is made.
  void note_interrupt() noexcept;

 private:
  enum step : std::uint64_t { outside, inside, hit, being_hit, mask };
  static constexpr std::uint64_t step_of(std::uint64_t state) noexcept { return state % mask; }

  std::atomic<std::uint64_t> state_{outside};  ///< turn * mask + step; the turn stays after the call
  std::uint32_t depth_ = 0;
  pid_t thread_ = 0;
};

/// On each node, before the program runs.
void open_interrupts() noexcept;

/// The caller is a thread of teams, in which signals are blocked, as those of the process are not for it.
void begin_to_let_in() noexcept;
/// Whether the caller is such a thread: a worker, or the lead thread of a node that is not node 0.
[[nodiscard]] bool is_let_in() noexcept;
/// A signal has been sent to a thread of this node. If it is such a one, it gets that now.
void let_in(pthread_t thread, int number) noexcept;

}  // namespace quire::program
