// SPDX-License-Identifier: BSD-3-Clause
// The sequential protocol as a machine without I/O: single writer or many readers per unit, write-invalidate, fixed
// distributed managers (Li and Hudak 1989; Millipage, Figure 3; KOAN, section 4.3.2). README.md has the table of transitions.
//
// Called on the driver's thread by the engine, and by the simulator. Every call takes one unit and appends what is to be
// done; the caller performs the actions in order. Messages to the machine's own node are actions like any other.
#pragma once

#include <quire/quire.h>

#include <array>
#include <memory>
#include <span>
#include <utility>

#include "base/fault_heap.hpp"
#include "base/check.hpp"
#include "directory/pins.hpp"
#include "model/action.hpp"
#include "model/handover.hpp"
#include "model/machine.hpp"
#include "model/message.hpp"
#include "protocol/sequential/state.hpp"

namespace quire::sequential {

using model::actions;
using model::message;

using directory::pin;
using directory::pin_table;
using model::fault_outcome;

inline constexpr model::protocol_id id{QUIRE_SEQUENTIAL};

class machine final : public model::machine, public model::page_locking, public model::broadcasting, public model::paging, public model::succession, public model::survival {
 public:
  [[nodiscard]] model::page_locking& pins() noexcept override { return *this; }
  [[nodiscard]] model::broadcasting& pushes() noexcept override { return *this; }
  [[nodiscard]] model::paging& frames() noexcept override { return *this; }
  [[nodiscard]] model::succession& successor() noexcept override { return *this; }
  [[nodiscard]] model::survival& losses() noexcept override { return *this; }
  /// The tables have shape.units elements, zero at first, and outlive the machine; entries of units that other nodes
  /// manage stay untouched. `requests` and `pins` may be shared by the machines of all regions of a node.
  machine(const region_shape& shape, unit_state* units, directory_entry* entries, directory::request_pool& requests,
          pin_table& pins)
      : model::machine(id), shape_(shape), units_(units), entries_(entries), requests_(requests), pins_(pins) {}
  /// The tables last as long as the machine.
  void own(base::fault_ptr<machine_tables> tables) noexcept { own_ = std::move(tables); }

  // Node side.
  /// A thread touched `unit` and may not `want` it. `lost` says how many times in a row the thread was woken for this very
  /// access and could not do it after all; unless that is 0, the node keeps the unit a while when it comes (see `hold`).
  fault_outcome on_fault(std::uint64_t unit, access want, actions& out, unsigned lost = 0) override;
  /// The time asked for by a `hold` action is over. May come late, and for a hold that has ended already.
  void on_hold_over(std::uint64_t unit, actions& out) override;
  /// Ask for `unit` before anybody touches it. With `withhold` it is not mapped when it arrives. `guessed`: it will be read,
  /// and then written like those before it; a withheld one shows whether it is. True if asked.
  bool on_read_ahead(std::uint64_t unit, access want, bool withhold, actions& out, bool guessed = false) override;
  /// Map a unit that this node may use already, together with a neighbour that faulted. True if there was anything to do.
  bool on_fault_around(std::uint64_t unit, actions& out) override;
  /// Threads of this node are going to write what they read of `unit` (KOAN: double faults), or no longer.
  void on_advice(std::uint64_t unit, bool will_write) override;
  /// A thread of this node calls for an atomic operation: `operation`, a, b, c (offset) and token of `call` are given.
  void on_atomic(const message& call, actions& out) override;
  /// A thread of this node calls for a push of `unit`; `token` is completed when all nodes have it.
  void on_push(std::uint64_t unit, std::uint64_t token, actions& out) override;

  // Page broadcasting (KOAN): a phase in which threads of this node write a range, and all others read it afterwards.
  /// From now on it is noticed whether a thread writes `unit`.
  void on_produce_begin(std::uint64_t unit, actions& out) override;
  /// Ends that. True if this node has written `unit` in the phase, and nobody else since: push it.
  [[nodiscard]] bool on_produce_end(std::uint64_t unit) override;

  // Page locking (KOAN). A pinned unit is writable here and stays so: orders to give it away wait for the end of the pin.
  /// A thread wants `unit` pinned. Counts even if it must wait, and then holds as soon as the unit has come: `local` says
  /// that it is pinned now. Else the thread waits for `wake` and asks on_pin_again().
  fault_outcome on_pin(std::uint64_t unit, actions& out) override;
  /// A thread that waits for a pin was woken.
  fault_outcome on_pin_again(std::uint64_t unit, actions& out) override;
  /// A thread ends its pin. False if no thread of this node has pinned the unit; then nothing changes.
  [[nodiscard]] bool on_unpin(std::uint64_t unit, actions& out) override;
  /// A thread that waits for a pin waits no longer. The unit may still come.
  void on_pin_given_up(std::uint64_t unit, actions& out) override;
  /// Ends all pins of `unit` at once: the node leaves.
  void on_pins_dropped(std::uint64_t unit, actions& out) override;
  [[nodiscard]] bool is_pinned(std::uint64_t unit) const noexcept override { return units_[unit].pinned != 0; }
  /// At the manager: the node that has `unit` and would have to give it to the next who asks.
  [[nodiscard]] node_id holder_of(std::uint64_t unit) const noexcept override;

  // Page-out (paging.cpp).
  [[nodiscard]] model::frame_use use_of_frame(std::uint64_t unit) const noexcept override;
  void on_drop_copy(std::uint64_t unit, actions& out) override;
  void on_unmap(std::uint64_t unit, actions& out) override;
  bool on_please_take(std::uint64_t unit, actions& out) override;

  // A node is lost, and the others go on (loss.cpp says in which order). Calls and messages of each unit; jobs of at most 64 nodes.
  void cut(std::uint64_t unit, actions& out) override;
  void absorb(const message& m, actions& out) override;
  void report(std::uint64_t unit, actions& out) override;
  void settle(std::uint64_t unit, actions& out) override;
  [[nodiscard]] std::span<const model::unit_table> tables() const noexcept override { return tables_; }

  // Content on two nodes (replicas.cpp). Rounds are driven by advance() of replicas.hpp, which says in which order.
  [[nodiscard]] bool replicated() const noexcept override { return shape_.replicas.units != nullptr; }
  void begin_round() noexcept;
  /// Units of the round; units() ends them.
  [[nodiscard]] std::uint64_t first_in_round() const noexcept;
  [[nodiscard]] std::uint64_t next_in_round(std::uint64_t unit) const noexcept;
  void on_save(std::uint64_t unit, actions& out);
  /// The units of a round that has ended, one after the other, for on_saved().
  [[nodiscard]] bool take_saved(std::uint64_t& unit) noexcept;
  void on_saved(std::uint64_t unit, actions& out);
  /// What has waited for the unit, one after the other; then, once, on_safe().
  [[nodiscard]] bool has_order(std::uint64_t unit) const noexcept;
  void on_order(std::uint64_t unit, actions& out);
  void on_safe(std::uint64_t unit, actions& out) { out.add(model::action_kind::wake, unit); }
  /// After settle() on all nodes: a unit of this node's whose backup died is unsaved.
  void mend(std::uint64_t unit) override;

  // The region's consistency changes (change.cpp). No message about any of its units is on its way, nothing is pinned.
  /// Gives up what is known of `unit`, as if it had never been used.
  [[nodiscard]] model::handover give(std::uint64_t unit, actions& out) override;
  /// Goes on from what another protocol knew. An owner's manager hears of it.
  void take(std::uint64_t unit, const model::handover& h, actions& out) override;
  /// Units for which there is anything to give.
  [[nodiscard]] model::used_units used() const noexcept override { return used_; }
  [[nodiscard]] bool knows(std::uint64_t u) const noexcept override { return units_[u].touched != 0 || entries_[u].touched != 0; }
  void all_given() noexcept override { used_.clear(); }
  [[nodiscard]] bool at_rest() noexcept override;
  void forget() noexcept override;

  /// A message for one unit (m.unit; m.count is ignored). Content, if any, has been placed already.
  void on_message(const message& m, actions& out) override;

  [[nodiscard]] const region_shape& shape() const noexcept { return shape_; }
  [[nodiscard]] node_id manager_of(std::uint64_t unit) const noexcept {
    const node_id first = shape_.managers.of(unit);
    return shape_.members == nullptr ? first : shape_.members->successor(first, shape_.nodes.nodes);
  }
  [[nodiscard]] node_id authority_of(std::uint64_t unit) const noexcept override { return manager_of(unit); }
  [[nodiscard]] const unit_state& unit(std::uint64_t u) const noexcept { return units_[u]; }
  [[nodiscard]] const directory_entry& entry(std::uint64_t u) const noexcept { return entries_[u]; }
  [[nodiscard]] const counters& count() const noexcept { return count_; }
  /// Units that this node has asked for and not got yet.
  [[nodiscard]] std::uint64_t outstanding() const noexcept override { return outstanding_; }
  [[nodiscard]] std::uint64_t units() const noexcept override { return shape_.units; }
  [[nodiscard]] access mapped(std::uint64_t u) const noexcept override { return units_[u].mapped(); }
  [[nodiscard]] bool awaits_content(std::uint64_t) const noexcept override { return true; }
  [[nodiscard]] bool is_written(std::uint64_t u) const noexcept override { return units_[u].written != 0; }
  [[nodiscard]] bool keeps(std::uint64_t u) const noexcept override {
    return units_[u].touched != 0 ? units_[u].owner != 0 : manager_of(u) == shape_.self;
  }
  [[nodiscard]] bool has_content(std::uint64_t u) const noexcept override { return right_of(u) != access::none; }
  /// The right that `unit` gives this node, initial state included.
  [[nodiscard]] access right_of(std::uint64_t unit) const noexcept;
  /// Everything that must hold for one unit on this node alone; the simulator adds what must hold across nodes.
  [[nodiscard]] bool is_valid(std::uint64_t unit) const noexcept;

 private:
  // node.cpp
  unit_state& touch(std::uint64_t unit) noexcept;
  void ask(std::uint64_t unit, unit_state& s, access want, actions& out);
  void permit(std::uint64_t unit, unit_state& s, access want, actions& out);
  [[nodiscard]] bool read_as_write(unit_state& s);
  void note_write(unit_state& s);
  void note_loss(unit_state& s, access to);
  void lower(std::uint64_t unit, unit_state& s, access to, actions& out);
  void arrived(std::uint64_t unit, unit_state& s, bool settled, actions& out);
  void complete_write_if_ready(std::uint64_t unit, unit_state& s, bool settled, actions& out);
  void send_done(std::uint64_t unit, actions& out) const;
  void unpin(std::uint64_t unit, std::uint32_t times, actions& out);
  [[nodiscard]] bool put_off(const message& m);
  void end_hold(std::uint64_t unit, unit_state& s, actions& out) const;
  void on_fetch(const message& m, actions& out);
  void on_fetch_push(const message& m, actions& out);
  void on_atomic_fetch(const message& m, actions& out);
  void on_invalidate(const message& m, actions& out);
  void on_read_reply(const message& m, actions& out);
  void on_write_reply(const message& m, actions& out);
  void on_invalidate_ack(const message& m, actions& out);
  void on_atomic_reply(const message& m, actions& out);
  void on_push_copy(const message& m, actions& out);
  void push_on(const message& m, node_id owner, actions& out);

  void on_survives(const message& m);
  void on_owner_is(const message& m);
  void refuse_lost(const message& m, actions& out) const;
  void on_unit_lost(const message& m, actions& out);

  void on_owner_here(const message& m);
  void on_copy_dropped(const message& m);

  // replicas.cpp
  void append(unit_chain& chain, std::uint64_t unit) noexcept;
  void mark_unsaved(std::uint64_t unit) noexcept;
  void note_content(const message& m) noexcept;
  void note_backup(std::uint64_t unit, unsigned number) noexcept;
  [[nodiscard]] bool is_backup(std::uint64_t unit, node_id to) const noexcept;
  [[nodiscard]] node_id choose_backup(const replica_state& r) const noexcept;
  void tell_backup(node_id requester, const directory_entry& e, message& grant) const noexcept;
  void on_replica(const message& m, actions& out);
  void keep_replica(const message& m);
  void on_replica_ack(const message& m);
  [[nodiscard]] bool waits_for_round(const message& m);
  void wait_for_round(const message& call);
  [[nodiscard]] bool stalls(const message& m);
  void cut_round(std::uint64_t unit) noexcept;
  [[nodiscard]] bool restore(std::uint64_t unit, directory_entry& e, const message& best, actions& out);
  void regain(std::uint64_t unit);
  [[nodiscard]] bool is_dead(node_id node) const noexcept {
    return shape_.members != nullptr && shape_.members->is_dead(node);
  }
  [[nodiscard]] bool is_valid_replica(std::uint64_t unit) const noexcept;
  [[nodiscard]] bool is_saving(std::uint64_t unit) const noexcept {
    return replicated() && shape_.replicas.units[unit].saving != 0;
  }
  [[nodiscard]] bool is_safe(std::uint64_t unit) const noexcept {
    return !replicated() || (shape_.replicas.units[unit].unsaved == 0 && shape_.replicas.units[unit].saving == 0);
  }

  // manager.cpp
  directory_entry& touch_entry(std::uint64_t unit) noexcept;
  void on_request(const message& m, actions& out);
  [[nodiscard]] bool settle(const message& m, directory_entry& e, actions& out);
  [[nodiscard]] bool settle_read(const message& m, directory_entry& e, actions& out);
  [[nodiscard]] bool settle_write(const message& m, directory_entry& e, actions& out);
  [[nodiscard]] bool settle_atomic(const message& m, directory_entry& e, actions& out);
  void on_done(const message& m, actions& out);
  void on_manager_ack(const message& m, actions& out);
  void on_push_ack(const message& m, actions& out);
  void serve(std::uint64_t unit, directory_entry& e, actions& out);
  void serve_read(const message& m, directory_entry& e, actions& out);
  void serve_write(const message& m, directory_entry& e, actions& out);
  void serve_atomic(const message& m, directory_entry& e, actions& out);
  void serve_push(const message& m, directory_entry& e, actions& out);
  void forward_atomic(const message& m, directory_entry& e, actions& out);
  void finish(std::uint64_t unit, directory_entry& e, actions& out);
  void send(node_id to, const message& m, bool with_content, actions& out) const;
  message reply_to(const message& m, model::message_kind kind) const;

  region_shape shape_;
  unit_state* units_;
  directory_entry* entries_;
  std::array<model::unit_table, 2> tables_{{{units_, sizeof(unit_state)}, {entries_, sizeof(directory_entry)}}};
  base::fault_ptr<machine_tables> own_{};
  directory::request_pool& requests_;
  pin_table& pins_;
  counters count_{};
  model::used_units used_{};
  std::uint64_t outstanding_ = 0;
};

}  // namespace quire::sequential
