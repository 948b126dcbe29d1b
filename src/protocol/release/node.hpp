// SPDX-License-Identifier: BSD-3-Clause
// The part of the release protocol that all regions of a node share: when intervals end, how their notices travel with
// synchronisation, and what an acquire does. No I/O: events go in, and actions come out of next(), one at a time. An
// event puts a task on the agenda (agenda.hpp), and a task that is not over goes on where it was when its last action
// has been performed.
//
// Every message that synchronises threads leaves through send(). One by which a thread of this node releases (a lock's
// right, an arrival, a signal) ends the open interval first: diffs go to the homes. It waits until all diffs before it
// are where a request of its receiver finds them: those that were sent to the receiver itself are, as the message comes
// behind them; all others must have been acknowledged (diff_groups.hpp). All messages that follow it wait with it.
// Before any such message the receiver is told the notices that this node has learned since it last told it something,
// in messages of their own: a pair of nodes keeps its order. What is told is kept; it invalidates copies only when a
// thread of the receiver acquires.
//
// So notices may be known here while the diffs that they tell of are on their way to one node. Until they have arrived
// nobody else is told of them. That node may have been the home once, and pass the diffs on: then it keeps back what
// this node sends behind them (keeps_back()) until they have arrived, and is told no earlier than anybody else.
// gates.cpp has the first, arrivals.cpp the second.
//
// Every round of the job barrier, or of another group of threads of all nodes, ends an epoch: what only one node wrote
// in it gets its home there, and what all know by now is forgotten.
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
#include "protocol/release/arrivals.hpp"
#include "protocol/release/diff_groups.hpp"
#include "protocol/release/held_message.hpp"
#include "protocol/release/history.hpp"
#include "protocol/release/home_moves.hpp"
#include "protocol/release/kept_watch.hpp"
#include "protocol/release/machine.hpp"
#include "protocol/release/node_state.hpp"
#include "protocol/release/unhurried.hpp"

namespace quire::release {

class node final : public protocol::domain {
 public:
  /// `twin_limit`: pages of twins that this node may have at a time.
  node(node_id self, unsigned nodes, std::size_t twin_limit, std::size_t notice_limit = history::default_limit)
      : state_(self),
        nodes_(nodes),
        twin_limit_(twin_limit),
        history_(self, nodes, notice_limit),
        groups_(nodes),
        arrivals_(state_, nodes) {
    state_.open.unacknowledged.resize(nodes);
  }

  /// For the machines of this node.
  [[nodiscard]] interval& open() noexcept { return state_.open; }

  // ---- What events ask for
  [[nodiscard]] std::size_t under_way() const noexcept override { return state_.agenda.size(); }
  [[nodiscard]] const protocol::domain_action* next(std::size_t left) override;
  void on_compared(bool differs) override { state_.differs = differs; }
  void on_sends(bool content_leaves) override { state_.open.content_leaves = content_leaves; }

  // ---- Events
  /// A message that synchronises leaves, now or when the diffs before it have arrived. `value` lasts until what this
  /// asks for is done.
  void send(node_id to, const message& m, std::span<const std::byte> value, edge what);
  bool leaves(node_id to, const message& m, std::span<const std::byte> value, edge what) override {
    send(to, m, value, what);
    return true;
  }
  /// Notices; or none, where this node is to hurry, and say so.
  [[nodiscard]] bool on_message(const message& m, std::span<const std::byte> value) override {
    if (m.a != 0) unhurried_.begin_call(m.from);
    return on_notices(m.from, value);
  }
  /// A home that goes to who asked to have it: whoever does an atomic operation there may count on what was released
  /// here.
  void on_leaving(node_id to, const message& m) override {
    if (m.kind == model::message_kind::home_move && (m.flags & model::message_flag::take) != 0) tell(to);
  }
  void on_arriving(const message& m) override {
    if (m.kind == model::message_kind::pin_grant) acquire();
  }
  /// All notices that this node knows go to `to`, before what is sent there next.
  void tell(node_id to);
  /// Before a call of this node's thread that ends an acquire goes on, and before memory of others is handed out.
  void acquire() override;
  /// Content that a home took when it knew these intervals (of each node its last) has all that this node has heard of
  /// the unit or written in it (broadcast.cpp).
  [[nodiscard]] bool is_covered(model::region_id region, std::uint64_t unit,
                                std::span<const std::uint32_t> known) const;
  /// Ends the open interval. What a later send() does; for calls that want to have it done. See busy(). No unit may
  /// keep its right beyond that if `all_end`: every write from now on is noticed. Units that were written without
  /// faults are known before (rights::on_written).
  void release(bool all_end = false) override {
    if (!state_.open.recovering) begin_release(state_.self, all_end);
  }
  /// The same where a message follows by which this node releases, or joins: nobody waits for the diffs alone.
  void release_ahead(node_id next) override {
    if (!state_.open.recovering) begin_release(next, false);
  }
  /// The next release ends the right of all units that keep theirs beyond one.
  void end_keeping() noexcept { all_end_ = true; }
  /// Diffs of this node are on their way.
  [[nodiscard]] bool busy() const noexcept override { return own_ != 0; }
  /// After a fault: keeps the number of twins within the limit.
  void relieve() override;
  [[nodiscard]] bool is_short() const override { return state_.open.twins >= twin_limit_; }
  /// What is told of the region later, by nodes that it has not left yet, is of another life, and not heard.
  void forget(model::region_id region) override;
  void on_region(model::region_id region, model::machine& in_charge, std::uint32_t life) noexcept override {
    state_.regions.set(region, release::in_charge(&in_charge), life);
  }

  /// Notices that `from` tells. False if they are none: nothing after the bad record is taken.
  [[nodiscard]] bool on_notices(node_id from, std::span<const std::byte> bytes);
  static constexpr unsigned any_group = diff_groups::any;
  /// A diff leaves for a home, `to` as far as this node knows. Returns its group. `unhurried`: it comes before a
  /// message that goes there, too; nobody waits for it alone, nor for its acknowledgement (an action's flag of that
  /// name).
  unsigned diff_sent(node_id to, bool unhurried);
  /// `count` diffs of a group that were sent to `to` are in the home's content. Who cannot tell the group waits for
  /// those that came later too.
  void on_acknowledged(node_id to, std::uint32_t count, unsigned group = any_group);
  bool keeps_back(const message& m, std::span<const std::byte> value) override {
    return arrivals_.keeps_back(m, value);
  }
  /// What has come, and waits to be heard.
  [[nodiscard]] release::arrivals& arrivals() noexcept { return arrivals_; }
  /// The diffs of a message are in the content here, and acknowledged: who wrote them is sent what else is new, if it
  /// will use it.
  void on_applied();
  using round_marks = protocol::round_marks;
  /// This node's part in a round: it sends its contribution upwards / the round is over, before it tells others and its
  /// own threads. The marks of the group last until what this asks for is done.
  void on_gathered(round_marks& group) override;
  void on_epoch(round_marks& group) override;
  void on_met() override { ++state_.open.epochs; }
  /// In place of on_epoch(): the round was refused, and others may not have told or heard in it what this node did.
  void on_round_refused(round_marks& group) override { group.gathered = group.settled; }

  void cut(std::uint64_t dead) override;
  void rebuild() override;

  [[nodiscard]] const history& known() const noexcept { return history_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return gate_.size() - left_; }
  [[nodiscard]] std::uint64_t intervals() const noexcept { return history_.known(state_.self); }

  using counters = node_counters;
  [[nodiscard]] const counters& count() const noexcept { return state_.count; }

 private:
  /// No diff of this node is on its way, and all that it wrote is told.
  [[nodiscard]] bool at_rest() const noexcept { return !busy() && closed_.empty() && leaving_.empty(); }
  [[nodiscard]] std::uint64_t last_closed() const noexcept;
  [[nodiscard]] std::uint64_t last_awaited(node_id to, edge what, std::uint64_t after) const noexcept;
  [[nodiscard]] bool may_leave(node_id to, edge what, std::uint64_t after) const noexcept;
  /// A message is on its way out; what comes meanwhile waits behind it.
  [[nodiscard]] bool leaves_one() const noexcept { return state_.agenda.has(task::kind::leave); }
  void add_up_to(std::uint64_t group);

  // Tasks.
  void begin_release(node_id ahead_of, bool all_end);
  void begin_leave(node_id to, const message& m, std::span<const std::byte> value, edge what, std::uint64_t after);
  void begin_interval();
  void open_gate();

  // They go on: one step, which may ask for an action, put another task on top, or end it.
  void go_on();
  void send_on(task& t);
  void leave_on(task& t);
  void open_gate_on(task& t);
  void tell_on(task& t);
  void release_on(task& t);
  void add_interval_on(task& t);
  void relieve_on(task& t);
  void apply_on(task& t);
  void acquire_on(task& t);
  void apply_notice(task& t);
  void end_epoch_on(task& t);
  void cut_on(task& t);

  node_state state_;
  unsigned nodes_;
  std::size_t twin_limit_;
  history history_;
  kept_watch kept_{state_};
  home_moves moves_{state_, history_, kept_};
  diff_groups groups_;
  release::arrivals arrivals_;
  unhurried unhurried_{state_};
  std::uint64_t own_ = 0;  ///< diffs of this node that are not acknowledged
  // Groups up to which diffs are on their way that notices in the history tell of, or threads here have released:
  struct {
    node_id to{};  ///< that node has been told: they were on their way there, and to no other
    std::uint64_t last = 0;
  } told_early_;
  std::uint64_t owed_last_ = 0;  ///< released to this node itself: whoever hears of that from here
  base::fault_vector<written_unit>
      closed_{};  ///< by release(), with diffs of the present group: not in the history yet
  base::fault_vector<written_unit> leaving_{};         ///< the same, with diffs of the group before
  std::uint64_t releases_ = 0, leaving_releases_ = 0;  ///< that were added to closed_; of them in leaving_, or before
  base::fault_vector<written_unit> told_{};            ///< for add_interval()
  base::fault_vector<held_message> gate_{};  ///< messages that wait, oldest first; those before left_ have left
  std::size_t left_ = 0;
  held_message outgoing_{};      ///< the one that leaves
  std::size_t relieved_ = 0;     ///< units of the open interval up to here have been looked at by relieve()
  history::position epoch_ = 0;  ///< where the last epoch ended
  std::array<std::byte, max_value_bytes> buffer_{};
  bool all_end_ = false;
};

}  // namespace quire::release
