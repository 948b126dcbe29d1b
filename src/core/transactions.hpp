// SPDX-License-Identifier: BSD-3-Clause
// Transactions of this node's threads, one at a time: transactions.cpp. What decides is the domain of
// src/protocol/transaction; here threads wait for it.
#pragma once

#include "base/status.hpp"
#include "core/ops.hpp"
#include "protocol/transaction/domain.hpp"

namespace quire::core {

class core;
struct turn_op;
struct begin_op;

class transactions {
 public:
  explicit transactions(core& node);

  // ---- Application thread
  /// A transaction of the calling thread begins, after those of threads that have come before. With `turn`: nobody else
  /// commits until it is over.
  [[nodiscard]] base::status begin(bool turn) noexcept;
  /// It ends. QUIRE_CONFLICT: another came first, and it is undone.
  [[nodiscard]] base::status commit() noexcept;
  /// It is undone. QUIRE_CONFLICT: it was doomed, and what it has seen may be old.
  [[nodiscard]] base::status abort() noexcept;
  /// It is undone; returns when something that it has seen may have changed, after `timeout_ms` at the latest (< 0:
  /// whenever that is).
  void retry(std::int64_t timeout_ms) noexcept;
  /// Nobody else commits until it is over. QUIRE_CONFLICT: it is doomed.
  [[nodiscard]] base::status take_turn() noexcept;
  /// Returns when no transaction of this node runs; until open() only the calling thread begins any. One thread of a
  /// node.
  [[nodiscard]] base::status close() noexcept;
  void open() noexcept;
  /// The calling thread's transaction runs. When it is over, memory of this range is mapped no longer: later ones have
  /// not read it unless they do. One range that lies in a region.
  void hide_afterwards(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// The calling thread is in one.
  [[nodiscard]] static bool inside() noexcept;
  /// The calling thread's transaction is doomed: what it does is in vain.
  [[nodiscard]] bool doomed() const noexcept { return inside() && domain_.word().now() == transaction::phase::doomed; }

  // ---- Driver's thread
  /// A fault in a transactional region: true if the thread may not be let in now, and is dealt with.
  [[nodiscard]] bool holds_up(fault_op& o) noexcept;
  /// Threads may not access some unit any more.
  void on_unmapped() noexcept;
  /// A copy has left memory. Who has read it, and waits for a change, will not hear of one.
  void on_copy_dropped() noexcept { domain_.note_taken(); }
  /// After messages.
  void look() noexcept;
  [[nodiscard]] transaction::counters count() const noexcept { return domain_.count(); }

 private:
  struct queue {
    op* first = nullptr;
    op* last = nullptr;
    void push(op& o) noexcept;
    [[nodiscard]] op* take_all() noexcept;
    [[nodiscard]] op* pop() noexcept;
    void remove(const op& o) noexcept;
  };
  void begin_step(begin_op& o) noexcept;
  void let_next_begin() noexcept;
  void commit_step(fault_op& o) noexcept;
  void abort_step(op& o) noexcept;
  void retry_step(op& o) noexcept;
  void turn_step(turn_op& o) noexcept;
  void finish() noexcept;
  /// Tells the domain of an event, and performs what it asks for: `event(domain)`.
  template <class Event>
  void feed(Event&& event) noexcept;
  [[nodiscard]] bool forces_restart() noexcept;
  [[nodiscard]] bool is_doomed() const noexcept { return domain_.word().now() == transaction::phase::doomed; }

  core& core_;
  transaction::domain& domain_;
  struct hidden_units {
    model::region_id region{};
    std::uint64_t first = 0, count = 0;
  };
  queue begins_{}, outside_{}, retries_{};
  hidden_units hides_{};  ///< at the end of the one that runs; its thread's until then
  bool closed_ = false;
  std::uint64_t accesses_ = 0;  ///< that were noticed
  op* paused_ = nullptr;        ///< a commit
  turn_op* turn_ = nullptr;     ///< who waits for its turn
};

}  // namespace quire::core
