// SPDX-License-Identifier: BSD-3-Clause
// The transaction of a node: what it has written, how it commits, and whether it is doomed. All transactional regions share it. No I/O: the core
// (core/transactions.cpp), or a simulator, lets threads wait, and tells what has been unmapped.
//
// Frames hold committed content, always. Threads read them, and write private copies, which are published at a commit:
//
//   run      units come to be read, as sequential::machine brings them. What is mapped while a body runs is its read set; a write makes a copy
//   commit   units that were written are pinned in ascending order (region, unit). A pin holds when no other node has a copy any more: who has
//            read there is doomed by then. With all pins the writes are published in one step, and the pins end. (Scalable TCC, Chafi et al. 2007)
//   doom     a unit is taken away: it is unmapped, then the transaction is doomed, then the order is acknowledged. While it is doomed nothing
//            is mapped. So no body ever sees a mixture of two states (opacity)
//
// (T1) While no transaction is doomed, all that is mapped is one committed state: of a unit that is published no other node has a copy.
// (T2) No body of a program runs while pins are held, and they are taken in one order: there is no circle of waiting.
// (T3) A transaction that has its turn (turns.hpp) cannot be doomed: nobody else commits.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/fault_heap.hpp"
#include "protocol/contract/domain.hpp"
#include "protocol/contract/row.hpp"
#include "protocol/sequential/domain.hpp"
#include "protocol/sequential/state.hpp"
#include "protocol/transaction/phase.hpp"
#include "protocol/transaction/turns.hpp"

namespace quire::transaction {

struct counters {
  std::uint64_t commits = 0;       ///< of transactions that had written
  std::uint64_t published = 0;     ///< units
  std::uint64_t dooms = 0;         ///< transactions to which one of another node came first
  std::uint64_t waits = 0;         ///< commits' waits for a unit
  std::uint64_t turns = 0;         ///< transactions that nobody else could doom
};

/// A unit that the running transaction has written.
struct written_unit {
  model::region_id region{};
  std::uint64_t unit = 0;
  friend auto operator<=>(const written_unit&, const written_unit&) = default;
};

/// What a commit has come to.
enum class progress : std::uint8_t {
  done,    ///< the writes are published
  waits,   ///< for the unit next() to come; then again
  paused,  ///< another node has its turn: until it is over
  doomed,  ///< it holds no pins any more
};

class domain final : public protocol::domain, private sequential::private_views {
 public:
  domain(const protocol::job& node, effects& to);

  /// Any thread.
  [[nodiscard]] phase_word& word() noexcept { return word_; }
  /// What the running transaction has written. Its own thread, or the driver's.
  [[nodiscard]] std::span<const written_unit> writes() const noexcept { return writes_; }

  // ---- Driver's thread
  /// A step of the commit of the running transaction.
  [[nodiscard]] progress advance();
  /// That it waits for.
  [[nodiscard]] const written_unit& next() const noexcept { return writes_[pinned_]; }
  [[nodiscard]] bool is_committing() const noexcept { return under_way_; }
  /// advance() has said `waits`.
  [[nodiscard]] bool awaits_unit() const noexcept { return asked_; }
  /// Its writes are forgotten.
  void undo();
  /// Threads may not access some unit any more. True if this has doomed the transaction.
  bool on_unmapped() noexcept;
  /// Some unit has been taken away, or published, since this was asked last.
  [[nodiscard]] bool take_news() noexcept { return std::exchange(news_, false); }
  /// The transaction of this node that waits for its turn, or has it.
  [[nodiscard]] turns& turn() noexcept { return turns_; }
  [[nodiscard]] counters count() const noexcept;

  [[nodiscard]] bool on_message(const model::message& m, std::span<const std::byte> value) override;
  void forget(model::region_id region) override;
  [[nodiscard]] bool commits() const override { return under_way_ || wanted_ != 0; }
  [[nodiscard]] bool commits_in(model::region_id region) const override;
  [[nodiscard]] bool busy() const override { return turns_.busy(); }

  // ---- Of machines
  [[nodiscard]] const sequential::private_views& views() const noexcept { return *this; }
  [[nodiscard]] sequential::domain& directory() noexcept { return directory_; }
  void note_written(model::region_id region, std::uint64_t unit) { writes_.push_back({region, unit}); }
  void note_taken() noexcept { news_ = true; }
  /// A unit that a commit had asked for.
  void note_came() { tell_turns(--wanted_ != 0 || under_way_); }
  /// Whether a private copy may stay, after it has been published; counts it.
  [[nodiscard]] bool keep_copy(std::uint64_t bytes) noexcept;
  void drop_copy(std::uint64_t bytes) noexcept { kept_bytes_ -= bytes; }

 private:
  [[nodiscard]] bool is_closed() const noexcept override { return word_.now() == phase::doomed; }
  [[nodiscard]] bool is_in_use() const noexcept override { return word_.now() != phase::idle; }
  [[nodiscard]] bool pin_next();
  void ask_for_all();
  void give_up_pins();
  void publish();
  void end_commit();
  template <class F>
  void ask(const written_unit& w, F&& f);
  void tell_turns(bool takes) { turns_.on_taking(takes); }

  effects& to_;
  directory::pin_table& pins_;
  std::uint64_t keeps_bytes_;  ///< at most, in private copies that have been published
  phase_word word_;
  base::fault_vector<written_unit> writes_{};
  std::size_t pinned_ = 0;     ///< of them, in order, while a commit is under way
  bool asked_ = false;         ///< the next one is counted as pinned, and has been asked for
  bool under_way_ = false;     ///< a commit
  std::uint64_t wanted_ = 0;   ///< units that commits have asked for, and that have not come yet: also of one that was doomed meanwhile
  bool own_unmapping_ = false; ///< what is unmapped now nobody else has wanted
  bool news_ = false;
  std::uint64_t kept_bytes_ = 0;
  counters count_{};
  sequential::domain directory_{};
  turns turns_;
  model::actions actions_{};
};

}  // namespace quire::transaction
