// SPDX-License-Identifier: BSD-3-Clause
// A random transactional program on whole nodes: threads read and write words in transactions, whose attempts are
// recorded and checked (recorder.hpp). How transactions begin, commit and are undone is the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "sim/whole/actor.hpp"
#include "sim/whole/recorder.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole {

/// What transactions do beside loads and stores. From a fibre; each call may take a while.
class transaction_calls {
 public:
  virtual ~transaction_calls() = default;
  /// Before all others.
  virtual void prepare(actor&) {}
  /// Returns when the body may begin. `attempt` counts those of the transaction, from 1. `turn`: nobody else commits
  /// until it is over. It may have been recorded, when it began before the thread goes on, and have read the word
  /// `first` already.
  [[nodiscard]] virtual std::optional<recorder::id> begin(actor& a, unsigned attempt, bool turn,
                                                          std::uint64_t first) = 0;
  virtual void store(actor& a, std::uint64_t address, std::uint64_t value) { a.here.store(address, value); }
  /// False: it could not be, and all is undone. Who knows when the writes become visible tells
  /// recorder::publish(`which`), or has recorder::look_at() called after each turn of a node.
  [[nodiscard]] virtual bool commit(actor& a, recorder::id which) = 0;
  /// All is undone, because the body has asked for it, or because a restart was thrown. False: what it was aborted for
  /// may be old.
  [[nodiscard]] virtual bool abort(actor& a) = 0;
  /// The same, because the body cannot go on with what it has seen; returns when that may have changed.
  virtual void retry(actor& a) { (void)abort(a); }
  /// From within a body: when it is over, these words count as read by no later transaction of the node.
  virtual void hide(actor&, std::uint64_t /*first*/, std::uint64_t /*bytes*/) {}
  /// From within a body: nobody else commits until it is over. Throws restart.
  virtual void take_turn(actor&) {}
};

struct transaction_options {
  std::uint64_t seed = 1;
  unsigned nodes = 2;
  unsigned most_threads = 2;  ///< of a node
  unsigned most_pages = 4;
  unsigned words = 3;               ///< of a page that are used
  unsigned most_transactions = 12;  ///< of a thread
  unsigned most_operations = 8;     ///< of a transaction
  unsigned abort_percent = 5;       ///< bodies that ask for it
  unsigned restart_permille = 10;   ///< accesses at which a restart is forced
  unsigned most_attempts = 0;  ///< of a transaction, but for those that the program forces to restart; 0: any number
  unsigned turn_percent = 0;   ///< transactions that take a turn, at their begin or later
  unsigned most_items =
      0;  ///< that a thread hands to others by way of a few words, where who finds none or no room retries
  unsigned outside_percent = 0;            ///< reads outside of transactions, beside each transaction
  unsigned beside_percent = 0;             ///< accesses in bodies to a region beside,
  std::uint8_t beside = QUIRE_SEQUENTIAL;  ///< and its consistency
  unsigned limited_percent = 0;            ///< runs whose nodes are short of memory
  unsigned hides_percent = 0;              ///< transactions that hide some pages when they are over
  bool any_unit = false;                   ///< units may have several pages
  unsigned forced_percent = 0;  ///< runs in which the runtime forces restarts (core::configuration::restart_every)
  unsigned most_holds = 0;      ///< that nodes make together while transactions run, as for checkpoints
  unsigned locked_percent = 0;  ///< transactions within a lock: who has it next is behind them
  bool straggles = false;       ///< many messages are late, by far
  bool by_token = false;        ///< transactions of the runtime commit by the token
  std::uint8_t consistency = QUIRE_SEQUENTIAL;
};

class transaction_job {
 public:
  using maker = std::function<std::unique_ptr<transaction_calls>(world&, recorder&)>;
  transaction_job(const transaction_options& options, const maker& make);
  /// What is wrong, or an empty text.
  [[nodiscard]] std::string run();
  [[nodiscard]] world& nodes() noexcept { return world_; }
  [[nodiscard]] recorder& history() noexcept { return record_; }
  /// That have committed, or were aborted by their bodies.
  [[nodiscard]] std::uint64_t transactions() const noexcept { return done_; }
  /// Attempts that could not go on with what they had seen; transactions that wanted a turn.
  [[nodiscard]] std::uint64_t retries() const noexcept { return waits_; }
  [[nodiscard]] std::uint64_t turns() const noexcept { return turns_; }
  [[nodiscard]] std::uint64_t hides() const noexcept { return hides_; }
  [[nodiscard]] std::uint64_t holds() const noexcept { return holds_; }
  /// Contents that had been overwritten when they came, where transactions commit by the token.
  [[nodiscard]] std::uint64_t stale();

 private:
  enum class outcome : std::uint8_t { committed, aborted, again, forced, waits };
  [[nodiscard]] world_options draw_options();
  void draw_memory(world_options& o);
  [[nodiscard]] core::region_description describe(std::uint16_t region);
  [[nodiscard]] std::uint64_t word(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t slot(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t beside(const actor& a) const;
  void plan_items(const std::vector<unsigned>& threads);
  void live(actor& a, std::uint64_t items);
  void look_outside(actor& a);
  void hold_now_and_then(actor& a, std::uint64_t times);
  void check_held(actor& a);
  [[nodiscard]] std::uint64_t commits_with_writes();
  void transact_locked(actor& a);
  void meet(actor& a, std::uint64_t round);
  /// False: it is to be retried.
  using body = bool (transaction_job::*)(actor& a, recorder::id which);
  void transact(actor& a, body what, bool may_abort);
  [[nodiscard]] outcome attempt(actor& a, unsigned number, body what, bool may_abort, bool turn);
  bool use_words(actor& a, recorder::id which);
  bool read_all(actor& a, recorder::id which);
  bool give(actor& a, recorder::id which) { return hand_over(a, which, false); }
  bool take(actor& a, recorder::id which) { return hand_over(a, which, true); }
  bool hand_over(actor& a, recorder::id which, bool full);
  void use_beside(actor& a);
  std::uint64_t read(actor& a, recorder::id which, std::uint64_t address);
  void write(actor& a, recorder::id which, std::uint64_t address, std::uint64_t value);
  [[nodiscard]] std::string check_frames();

  transaction_options options_;
  sim::random draw_;
  unsigned pages_ = 1, write_percent_ = 50;
  std::uint64_t unit_ = 4096, slots_ = 0;
  world world_;
  recorder record_;
  std::unique_ptr<transaction_calls> calls_;
  std::uint64_t barrier_ = 0, lock_ = 0, done_ = 0, waits_ = 0, turns_ = 0, hides_ = 0, holds_ = 0;
  std::vector<std::vector<std::uint64_t>> items_{};  ///< that threads give, or take, by node and number
  unsigned all_threads_ = 0;
  std::unordered_set<std::uint64_t> full_{};  ///< values of slots that somebody may take
};

}  // namespace quire::whole
