// SPDX-License-Identifier: BSD-3-Clause
// The transaction of a node: what it has written, and whether it is doomed. All transactional regions share it. Pure,
// no I/O: events go in, what is to be done comes out by next(). The core (core/transactions.cpp), or a simulator, lets
// threads wait, and tells what has been unmapped.
//
// Frames hold committed content, always. Threads read them, and write private copies, which are published at a commit:
//
//   run      units come to be read. What is mapped while a body runs is its read set; a write makes a copy
//   commit   of one kind for the job (QUIRE_COMMIT): owners/domain.hpp, token/domain.hpp
//   doom     a unit is taken away: it is unmapped, then the transaction is doomed, then others may count on it. While
//            it is doomed nothing is mapped. So no body ever sees a mixture of two states (opacity)
//
// What a transaction unmaps itself, when it has happened or is undone, dooms nobody: it is over by then (phase.hpp).
//
// (T1) While no transaction is doomed, all that is mapped is one committed state.
// (T2) No body of a program runs while its node holds up commits of others, but one that has its turn: there is no
// circle of waiting. (T3) A transaction that has its turn cannot be doomed: nobody else commits.
#pragma once

#include <quire/quire.h>

#include <cstdint>
#include <span>
#include <utility>

#include "base/fault_heap.hpp"
#include "protocol/contract/domain.hpp"
#include "protocol/contract/row.hpp"
#include "protocol/transaction/agenda.hpp"
#include "protocol/transaction/phase.hpp"

namespace quire::transaction {

inline constexpr std::uint64_t page_bytes = 4096;

inline constexpr model::protocol_id id{QUIRE_TRANSACTIONAL};

struct counters {
  std::uint64_t commits = 0;    ///< of transactions that had written
  std::uint64_t published = 0;  ///< units
  std::uint64_t dooms = 0;      ///< transactions to which one of another node came first
  std::uint64_t waits = 0;      ///< commits' waits for a unit, or for the token
  std::uint64_t turns = 0;      ///< transactions that nobody else could doom
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
  paused,  ///< as long as is_paused()
  doomed,  ///< nobody waits for it any more
};

class domain : public protocol::domain {
 public:
  [[nodiscard]] std::size_t under_way() const noexcept override { return agenda_.size(); }

  /// Any thread.
  [[nodiscard]] phase_word& word() noexcept { return word_; }
  /// What the running transaction has written. Its own thread, or the driver's.
  [[nodiscard]] std::span<const written_unit> writes() const noexcept { return writes_; }

  // ---- The commit. Driver's thread
  /// A step of the commit of the running transaction.
  [[nodiscard]] virtual progress advance() = 0;
  [[nodiscard]] bool is_committing() const noexcept { return under_way_; }
  /// advance() has said `waits`: for this unit.
  [[nodiscard]] bool awaits_unit() const noexcept { return awaits_; }
  [[nodiscard]] const written_unit& awaited() const noexcept { return writes_[pinned_]; }
  /// advance() has said `paused`, or would.
  [[nodiscard]] virtual bool is_paused() const noexcept = 0;

  // ---- Turns: nobody else commits until the transaction of this node is over. Driver's thread
  virtual void ask_turn() = 0;
  virtual void end_turn() = 0;
  /// Also the transaction's own thread.
  [[nodiscard]] bool has_turn() const noexcept { return has_turn_; }

  // ---- Driver's thread
  /// Machines have heard messages: what they have told of it may ask for something.
  virtual void look() {}
  /// Its writes are forgotten: it is over.
  virtual void undo() = 0;
  /// No later transaction of this node has read these units, but those that touch them: what was mapped for the one
  /// that is over is mapped no longer. Nobody runs one yet.
  virtual void hide(model::region_id region, std::uint64_t first, std::uint64_t count) = 0;
  /// Threads may not access some unit any more. True if this has doomed the transaction.
  bool on_unmapped() noexcept;
  /// Some unit has been taken away, or published, since this was asked last.
  [[nodiscard]] bool take_news() noexcept { return std::exchange(news_, false); }
  [[nodiscard]] counters count() const noexcept { return count_; }
  void forget(model::region_id region) override;
  [[nodiscard]] bool commits() const override { return under_way_; }
  [[nodiscard]] bool commits_in(model::region_id region) const override;

  // ---- Of machines
  [[nodiscard]] const sequential::private_views& views() const noexcept { return word_; }
  void note_written(model::region_id region, std::uint64_t unit) { writes_.push_back({region, unit}); }
  void note_taken() noexcept { news_ = true; }
  /// Whether a private copy may stay, after it has been published; counts it.
  [[nodiscard]] bool keep_copy(std::uint64_t bytes) noexcept;
  void drop_copy(std::uint64_t bytes) noexcept { kept_bytes_ -= bytes; }

 protected:
  explicit domain(const protocol::job& node) : keeps_bytes_(node.twin_pages * page_bytes) {}
  /// A commit begins. The writes are in order from then on.
  void begin_commit();
  /// Publishes all writes in one step, after which the transaction is over: `publish` appends what is to be done for
  /// one of them.
  template <class F>
  void publish_all(F&& publish) {
    word_.end();
    for (const written_unit& w : writes_) {
      actions_.clear();
      publish(w);
      agenda_.perform(w.region, actions_);
    }
    agenda_.perform_all();
    ++count_.commits;
    count_.published += writes_.size();
    news_ = true;
  }

  agenda agenda_{};
  phase_word word_;
  base::fault_vector<written_unit> writes_{};
  bool under_way_ = false;  ///< a commit
  std::size_t pinned_ = 0;  ///< of what was written, in order, while a commit is under way
  bool awaits_ = false;     ///< the next one has been asked for
  bool has_turn_ = false;
  counters count_{};
  model::actions actions_{};  ///< of one unit; for whoever needs it next

 private:
  bool news_ = false;
  std::uint64_t keeps_bytes_;  ///< at most, in private copies that have been published
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace quire::transaction
