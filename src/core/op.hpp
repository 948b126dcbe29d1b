// SPDX-License-Identifier: BSD-3-Clause
// What a thread asks of the engine: a fault, or a call of the API. It lives on the asking thread's stack, is executed
// by whoever drives (possibly that thread itself), and is completed once; until then the thread spins, drives, or
// sleeps.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/status.hpp"
#include "os/futex.hpp"
#include "record/events.hpp"

namespace quire::core {

class core;

/// Base of all operations. `execute` runs once, on the driver's thread; it may complete the operation or leave that to
/// a message that arrives later.
class op {
 public:
  using body = void (*)(core&, op&) noexcept;
  /// What a token may lead to.
  enum class type : std::uint8_t { fault, call, synchronisation };
  explicit op(body execute, type what) noexcept : what_(what), execute_(execute) {}
  op(const op&) = delete;
  op& operator=(const op&) = delete;

  void execute(core& e) noexcept { execute_(e, *this); }
  [[nodiscard]] bool done() const noexcept { return state_.load(std::memory_order_acquire) == finished; }

  /// Ends the operation. The op may be gone when this returns.
  void complete(base::status why = {}) noexcept {
    result_ = why;
    happened.ended_by = record::happening.load(std::memory_order_relaxed);
    auto& state = state_;
    if (state.exchange(finished, std::memory_order_acq_rel) == asleep) os::futex_wake(state, 1);
  }
  /// Sleeps until complete(), at most `timeout_ns` (negative: for ever). True if done.
  bool sleep(std::int64_t timeout_ns) noexcept {
    std::uint32_t expected = waiting;
    state_.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel);
    if (expected == finished) return true;
    os::futex_wait(state_, asleep, timeout_ns);
    return done();
  }
  /// The same, or until `word`, which processes share, is no longer `value`, at most until `end_ns` (0: for ever).
  /// False: this kernel cannot.
  [[nodiscard]] bool sleep_beside(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                                  std::uint64_t end_ns) noexcept {
    std::uint32_t expected = waiting;
    state_.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel);
    if (expected == finished) return true;
    const bool could = os::futex_wait_either(state_, asleep, word, value, end_ns);
    expected = asleep;
    state_.compare_exchange_strong(expected, waiting, std::memory_order_acq_rel);  // complete() need not wake it
    return could;
  }
  [[nodiscard]] base::status result() const noexcept { return result_; }
  [[nodiscard]] type what() const noexcept { return what_; }

  record::of_operation happened{};

  op* next = nullptr;  ///< in the driver's queue, then in whatever list the engine keeps it

 private:
  static constexpr std::uint32_t waiting = 0, finished = 1, asleep = 2;
  type what_;
  body execute_;
  base::status result_{};
  std::atomic<std::uint32_t> state_{waiting};
};

/// Operations that wait for a driver: many pushers, one taker, first come first served. Lock-free.
class op_queue {
 public:
  void push(op& o) noexcept {
    op* head = head_.load(std::memory_order_relaxed);
    do {
      o.next = head;
    } while (!head_.compare_exchange_weak(head, &o, std::memory_order_seq_cst, std::memory_order_relaxed));
  }
  [[nodiscard]] bool empty() const noexcept { return head_.load(std::memory_order_seq_cst) == nullptr; }
  /// All that are there, oldest first.
  [[nodiscard]] op* take_all() noexcept {
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    op* newest = head_.exchange(nullptr, std::memory_order_acquire);
    op* oldest = nullptr;
    while (newest != nullptr) {
      op* const rest = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = rest;
    }
    return oldest;
  }

 private:
  std::atomic<op*> head_{nullptr};
};

}  // namespace quire::core
