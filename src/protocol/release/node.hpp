// SPDX-License-Identifier: BSD-3-Clause
// The part of the release protocol that all regions of a node share: when intervals end, how their notices travel with
// synchronisation, and what an acquire does. No I/O: the engine and the simulator give it `effects`.
//
// Every message that synchronises threads leaves through send(). One by which a thread of this node releases (a lock's right, an
// arrival, a signal) ends the open interval first: diffs go to the homes, and the message waits until all of them have been
// acknowledged, and with it all that follow. It does not wait for diffs that leave after it, or a thread that writes much
// would hold up the others of its node as long as it likes: diffs form groups, of which two are on their way at most, and a
// group takes no more diffs when a message waits for it and the one before has arrived. Of two nodes none waits: what one sends the other
// comes behind its diffs, and nobody else could ask for what they changed. Before any such message the receiver is told the notices that this node has
// learned since it last told it something, in messages of their own: a pair of nodes keeps its order. What is told
// is kept; it invalidates copies only when a thread of the receiver acquires.
//
// Every round of the job barrier, or of another group of threads of all nodes, ends an epoch: what only one node wrote in it gets its home
// there, and what all know by now is forgotten.
//
// Driver's thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "model/action.hpp"
#include "model/edge.hpp"
#include "protocol/contract/domain.hpp"
#include "protocol/release/history.hpp"
#include "protocol/release/machine.hpp"

namespace quire::release {

using model::edge;

/// Largest payload of a message that synchronises, and of notices.
inline constexpr std::size_t max_value_bytes = 512;

class node final : public protocol::domain {
 public:
  using effects = protocol::domain::effects;

  /// `twin_limit`: pages of twins that this node may have at a time.
  node(node_id self, unsigned nodes, effects& to, std::size_t twin_limit, std::size_t notice_limit = history::default_limit)
      : self_(self), nodes_(nodes), effects_(to), twin_limit_(twin_limit), history_(self, nodes, notice_limit) {
    open_.unacknowledged.resize(nodes);
  }

  /// For the machines of this node.
  [[nodiscard]] interval& open() noexcept { return open_; }

  /// Sends a message that synchronises, now or when the diffs before it have arrived.
  void send(node_id to, const message& m, std::span<const std::byte> value, edge what);
  bool leaves(node_id to, const message& m, std::span<const std::byte> value, edge what) override {
    send(to, m, value, what);
    return true;
  }
  /// Notices.
  [[nodiscard]] bool on_message(const message& m, std::span<const std::byte> value) override { return on_notices(m.from, value); }
  /// A home that goes to who asked to have it: whoever does an atomic operation there may count on what was released here.
  void on_leaving(node_id to, const message& m) override {
    if (m.kind == model::message_kind::home_move && (m.flags & model::message_flag::take) != 0) tell(to);
  }
  void on_arriving(const message& m) override {
    if (m.kind == model::message_kind::pin_grant) acquire_pin(m.from, m.region, m.unit);
  }
  /// All notices that this node knows go to `to`, before what is sent there next.
  void tell(node_id to);
  /// Before a call of this node's thread that ends an acquire goes on, and before memory of others is handed out.
  void acquire() override;
  /// The same, when the home `from` has granted a pin of `unit`: what comes with it is as new as all that the home has told, and stale
  /// only if others have told more (pinning.cpp).
  void acquire_pin(node_id from, model::region_id region, std::uint64_t unit);
  /// Content that a home took when it knew these intervals (of each node its last) has all that this node has heard of the unit or
  /// written in it (broadcast.cpp).
  [[nodiscard]] bool is_covered(model::region_id region, std::uint64_t unit, std::span<const std::uint32_t> known) const;
  /// Ends the open interval. What a later send() does; for calls that want to have it done. See busy(). No unit may keep its right beyond
  /// that if `all_end`: every write from now on is noticed.
  void release(bool all_end = false) override;
  /// The same where a message follows by which this node releases, or joins: nobody waits for the diffs alone.
  void release_ahead() override;
  /// Diffs that leave now are of a release_ahead(), and nobody waits for their acknowledgements either.
  [[nodiscard]] bool unhurried() const noexcept { return ahead_ && is_pair(); }
  /// The next release ends the right of all units that keep theirs beyond one.
  void end_keeping() noexcept { all_end_ = true; }
  /// Diffs are on their way.
  [[nodiscard]] bool busy() const noexcept override { return closing_ + fresh_ != 0; }
  /// After a fault: keeps the number of twins within the limit.
  void relieve() override;
  /// What is told of the region later, by nodes that it has not left yet, is of another life, and not heard.
  void forget(model::region_id region) override;

  /// Notices that `from` tells. False if they are none: nothing after the bad record is taken.
  [[nodiscard]] bool on_notices(node_id from, std::span<const std::byte> bytes);
  /// A diff leaves for a home, `to` as far as this node knows. Returns its group.
  unsigned diff_sent(node_id to) noexcept {
    ++open_.unacknowledged[to.value()];
    ++fresh_;
    return group_ % 2;
  }
  static constexpr unsigned any_group = 2;
  /// `count` diffs of a group that were sent to `to` are in the home's content. Who cannot tell the group waits for those that came later
  /// too.
  void on_acknowledged(node_id to, std::uint32_t count, unsigned group = any_group);
  /// The diffs of a message are in the content here, and acknowledged: who wrote them is sent what else is new, if it will use it.
  void on_applied();
  /// `count` diffs of others that this node has passed on are in the home's content.
  void on_passed(std::uint64_t count);
  using round_marks = protocol::round_marks;
  /// This node's part in a round: it sends its contribution upwards / the round is over, before it tells others and its own threads.
  void on_gathered(round_marks& group) override;
  void on_epoch(round_marks& group) override;
  /// In place of on_epoch(): the round was refused, and others may not have told or heard in it what this node did.
  void on_round_refused(round_marks& group) override { group.gathered = group.settled; }

  [[nodiscard]] const history& known() const noexcept { return history_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return gate_.size() - left_; }
  [[nodiscard]] std::uint64_t intervals() const noexcept { return history_.known(self_); }

  struct counters {
    std::uint64_t releases = 0;        ///< intervals that ended
    std::uint64_t acquires = 0;        ///< that had something to invalidate
    std::uint64_t notices_sent = 0;    ///< runs of units
    std::uint64_t notices_heard = 0;
    std::uint64_t early_diffs = 0;     ///< sent before the release, for want of twins
  };
  [[nodiscard]] const counters& count() const noexcept { return count_; }

 private:
  [[nodiscard]] machine* machine_of(model::region_id region) noexcept { return in_charge(effects_.machine_of(region)); }
  struct held_message {
    std::uint64_t after = 0;  ///< the group that it waits for
    node_id to{};
    message m{};
    std::array<std::byte, max_value_bytes> value{};
  };
  [[nodiscard]] bool is_pair() const noexcept { return nodes_ == 2; }
  void announce_homes();
  void pass(node_id to, const message& m, std::span<const std::byte> value, bool with_notices);
  void look_at_kept(bool all_end);
  void stop_keeping(machine& m, const written_unit& w);
  void open_gate();
  void add_interval();
  void move_homes();
  void learn_moves(history::position at);

  node_id self_;
  unsigned nodes_;
  effects& effects_;
  std::size_t twin_limit_;
  history history_;
  interval open_{};
  std::uint64_t group_ = 1;             ///< of diffs that leave now
  std::uint64_t fresh_ = 0;             ///< of them, not acknowledged
  std::uint64_t closing_ = 0;           ///< of the group before, not acknowledged; of those before that, all are
  base::fault_vector<written_unit> closed_{};  ///< by release(), since the group began: told when it has arrived
  base::fault_vector<written_unit> leaving_{};  ///< by release(), in the group before
  base::fault_vector<written_unit> told_{};     ///< for add_interval()
  struct writer_of {
    written_unit what;
    std::uint32_t writer;
  };
  base::fault_vector<writer_of> writers_{};     ///< for move_homes()
  base::fault_vector<held_message> gate_{};  ///< messages that wait, oldest first; those before left_ have left
  std::size_t left_ = 0;
  std::size_t relieved_ = 0;  ///< units of the open interval up to here have been looked at by relieve()
  history::position epoch_ = 0;  ///< where the last epoch ended
  actions actions_{};
  std::array<std::byte, max_value_bytes> buffer_{};
  counters count_{};
  bool all_end_ = false;
  bool ahead_ = false;
};

}  // namespace quire::release
