// SPDX-License-Identifier: BSD-3-Clause
// Commits by the token (Plurix): commits of the job have numbers, and only who has the token makes one. It waits until
// it has applied all commits before; if it is not doomed by then, it publishes what was written, sends the write set to
// all nodes, and passes the token on. The others apply write sets in the order of their numbers: units in it are
// unmapped, a transaction that may have read them is doomed, and who wrote them is their owner.
//
// (T1): all that is mapped is what the commits applied so far have left. (T2): the holder of the token waits for write
// sets, which are on their way, and for nodes to apply those that they have, which no thread of theirs holds up. (T3):
// who has its turn holds the token, and has applied all commits.
//
// A commit is not known to all nodes when it has happened. Who is told of it by a lock, a barrier, or any other message
// that synchronises sees it nevertheless: arrivals.hpp. No I/O. Driver's thread, unless said otherwise.
#pragma once

#include "protocol/transaction/domain_of.hpp"
#include "protocol/transaction/token/arrivals.hpp"
#include "protocol/transaction/token/passing.hpp"
#include "protocol/transaction/token/write_sets.hpp"

namespace quire::transaction::token {

class machine;

class domain final : public domain_of<machine> {
 public:
  explicit domain(const protocol::job& node);

  [[nodiscard]] const protocol::domain_action* next(std::size_t left) override;

  [[nodiscard]] progress advance() override;
  /// The token is not here, or a commit before this one is not applied.
  [[nodiscard]] bool is_paused() const noexcept override { return under_way_ && !may_commit(); }
  /// Write sets that wait on a node, in its driver's queue or in messages, are at most so many: who commits waits for
  /// it beyond.
  static constexpr commit_number most_ahead = 1024;
  /// After so many commits a node tells all others how many it has applied.
  static constexpr commit_number told_every = 256;
  void ask_turn() override;
  void end_turn() override;

  void tell(model::node_id to) override;
  [[nodiscard]] bool waits(const model::message& m, std::span<const std::byte> value) override;
  [[nodiscard]] bool on_message(const model::message& m, std::span<const std::byte> value) override;
  [[nodiscard]] bool busy() const override { return passing_.busy() || arrivals_.waiting() != 0 || has_turn(); }
  void forget(model::region_id region) override;

  /// The last commit that this node has applied, and all before it.
  [[nodiscard]] commit_number applied() const noexcept { return applied_; }
  [[nodiscard]] bool holds() const noexcept { return passing_.holds(); }
  /// Contents that had been overwritten when they came.
  [[nodiscard]] std::uint64_t stale() const noexcept { return stale_; }
  [[nodiscard]] bool is_valid() const noexcept {
    return passing_.is_valid() && (!passing_.holds() || applied_ <= passing_.number());
  }
  /// The slowest of the other nodes has applied so many commits, as far as this one has heard.
  [[nodiscard]] commit_number slowest() const noexcept;
  /// Nothing waits for anything.
  [[nodiscard]] bool is_quiet() const noexcept { return !busy() && early_.empty() && sets_.empty(); }

  // ---- Of machines
  void note_stale() noexcept { ++stale_; }
  /// The running transaction does not get what it waits for. True if it is doomed by that.
  [[nodiscard]] bool give_up() noexcept;
  /// The unit's content is of commits up to this one, which is not applied here: on_reached() when it is.
  void await(commit_number number, model::region_id region, std::uint64_t unit) {
    early_.push_back({number, region, unit});
  }

 private:
  struct early_unit {
    commit_number number = 0;
    model::region_id region{};
    std::uint64_t unit = 0;
  };
  /// What is done when all that was asked for before is.
  enum class then : std::uint8_t {
    apply,  ///< units of `applies_` are unmapped: it is applied
    hear,   ///< a message that has waited is heard
  };
  void go_on(agenda::step s);
  [[nodiscard]] bool may_commit() const noexcept {
    return passing_.holds() && applied_ == passing_.number() && (nodes_ == 1 || applied_ < slowest() + most_ahead);
  }
  void note_applied(model::node_id by, commit_number number) noexcept;
  void tell_all();
  void publish();
  void send_write_set();
  void end_commit();
  [[nodiscard]] bool on_write_set(const model::message& m, std::span<const std::byte> value);
  /// Whether these are units of the region, or nobody here can tell.
  [[nodiscard]] bool may_be(const written_run& r) const noexcept;
  void apply_next();
  void take_units();
  void on_applied();
  void map_early();
  void hear_next();
  void look_for_turn();

  model::node_id self_;
  unsigned nodes_;
  commit_number applied_ = 0;
  passing passing_;
  write_sets sets_{};
  write_set applies_{};  ///< now; without a number: none
  arrivals arrivals_;
  base::fault_vector<commit_number>
      told_{};  ///< by node: so many commits it applies before it hears what comes from here
  base::fault_vector<commit_number> known_{};  ///< by node: so many it has applied, as it has told
  base::fault_vector<early_unit> early_{};
  written_runs runs_{};
  bool wants_turn_ = false;
  std::uint64_t stale_ = 0;
};

}  // namespace quire::transaction::token
