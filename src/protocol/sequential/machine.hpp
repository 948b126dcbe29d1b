// SPDX-License-Identifier: BSD-3-Clause
// The sequential protocol as a machine without I/O: single writer or many readers per unit, write-invalidate, fixed
// distributed managers (Li and Hudak 1989; Millipage, Figure 3; KOAN, section 4.3.2). README.md has the table of
// transitions.
//
// Called on the driver's thread by the engine, and by the simulator. Every call takes one unit and appends what is to
// be done; the caller performs the actions in order. Messages to the machine's own node are actions like any other.
// What the machine does is done by its parts, which share a table of units; each knows those above it in the list of
// members, and none below.
#pragma once

#include <quire/quire.h>

#include <cstdint>
#include <utility>

#include "base/fault_heap.hpp"
#include "model/machine.hpp"
#include "protocol/sequential/change.hpp"
#include "protocol/sequential/doubles.hpp"
#include "protocol/sequential/flush.hpp"
#include "protocol/sequential/loss.hpp"
#include "protocol/sequential/manager.hpp"
#include "protocol/sequential/node.hpp"
#include "protocol/sequential/paging.hpp"
#include "protocol/sequential/pinning.hpp"
#include "protocol/sequential/push.hpp"
#include "protocol/sequential/replica_marks.hpp"
#include "protocol/sequential/saving.hpp"
#include "protocol/sequential/state.hpp"
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

inline constexpr model::protocol_id id{QUIRE_SEQUENTIAL};

class machine : public model::machine {
 public:
  /// The tables have shape.units elements, zero at first, and outlive the machine; entries of units that other nodes
  /// manage stay untouched. `requests` and `pins` may be shared by the machines of all regions of a node.
  machine(const region_shape& shape, unit_state* units, directory_entry* entries, directory::request_pool& requests,
          pin_table& pins)
      : machine(id, shape, units, entries, requests, pins) {}
  /// The tables last as long as the machine.
  void own(base::fault_ptr<machine_tables> tables) noexcept { own_ = std::move(tables); }

  [[nodiscard]] page_locks& pins() noexcept override { return locks_; }
  [[nodiscard]] broadcasts& pushes() noexcept override { return pushes_; }
  [[nodiscard]] page_out& frames() noexcept override { return frames_; }
  [[nodiscard]] flushes& stored() noexcept override { return flushes_; }
  [[nodiscard]] handovers& successor() noexcept override { return handovers_; }
  [[nodiscard]] sequential::losses& losses() noexcept override { return losses_; }
  [[nodiscard]] saving_rounds& rounds() noexcept { return rounds_; }

  fault_outcome on_fault(std::uint64_t unit, access want, actions& out, unsigned lost = 0) override {
    return node_.on_fault(unit, want, out, lost);
  }
  void on_hold_over(std::uint64_t unit, actions& out) override { node_.on_hold_over(unit, out); }
  bool on_read_ahead(std::uint64_t unit, access want, bool withhold, actions& out, bool guessed = false) override {
    return node_.on_read_ahead(unit, want, withhold, out, guessed);
  }
  [[nodiscard]] bool was_ahead_in_vain(std::uint64_t unit) const noexcept override {
    return table_.units[unit].useless != 0;
  }
  /// In a job that goes on without this node, which keeps nothing of the unit any more.
  void give_up(std::uint64_t unit, actions& out) {
    losses_.forget_managed(unit);
    node_.give_up(unit, out);
  }
  bool on_hint(std::uint64_t unit, access want, actions& out) override { return node_.on_hint(unit, want, out); }
  bool on_fault_around(std::uint64_t unit, actions& out) override { return node_.on_fault_around(unit, out); }
  void on_advice(std::uint64_t unit, bool will_write) override { habits_.on_advice(unit, will_write); }
  void on_atomic(const message& call, actions& out) override { node_.on_atomic(call, out); }
  void on_message(const message& m, actions& out) override;

  [[nodiscard]] const region_shape& shape() const noexcept { return table_.shape; }
  [[nodiscard]] const unit_state& unit(std::uint64_t u) const noexcept { return table_.units[u]; }
  [[nodiscard]] const directory_entry& entry(std::uint64_t u) const noexcept { return table_.entries[u]; }
  [[nodiscard]] const counters& count() const noexcept { return table_.count; }
  [[nodiscard]] node_id manager_of(std::uint64_t unit) const noexcept { return table_.manager_of(unit); }
  [[nodiscard]] node_id authority_of(std::uint64_t unit) const noexcept override { return manager_of(unit); }
  /// The right that `unit` gives this node, initial state included.
  [[nodiscard]] access right_of(std::uint64_t unit) const noexcept { return table_.right_of(unit); }
  [[nodiscard]] std::uint64_t outstanding() const noexcept override { return table_.outstanding; }
  [[nodiscard]] std::uint64_t units() const noexcept override { return shape().units; }
  [[nodiscard]] access mapped(std::uint64_t u) const noexcept override { return unit(u).mapped(); }
  [[nodiscard]] bool awaits_content(std::uint64_t) const noexcept override { return true; }
  [[nodiscard]] bool is_written(std::uint64_t u) const noexcept override {
    return unit(u).written != 0 || shape().stored;
  }
  [[nodiscard]] bool keeps(std::uint64_t u) const noexcept override {
    return unit(u).touched != 0 ? unit(u).owner != 0 : manager_of(u) == shape().self;
  }
  [[nodiscard]] bool has_content(std::uint64_t u) const noexcept override {
    return right_of(u) != access::none || table_.is_inherited_in_store(u);
  }
  /// Units for which there is anything to give.
  [[nodiscard]] model::used_units used() const noexcept override { return table_.used; }
  [[nodiscard]] bool knows(std::uint64_t u) const noexcept override {
    return unit(u).touched != 0 || entry(u).touched != 0;
  }
  void on_frames_apart() noexcept override;
  [[nodiscard]] bool at_rest() noexcept override;
  void forget() noexcept override;
  /// Everything that must hold for one unit on this node alone; the simulator adds what must hold across nodes.
  [[nodiscard]] bool is_valid(std::uint64_t unit) const noexcept;

 protected:
  /// Of a protocol that brings units as this one does, and has its own rules for what threads may do with them.
  machine(model::protocol_id of, const region_shape& shape, unit_state* units, directory_entry* entries,
          directory::request_pool& requests, pin_table& pins)
      : model::machine(of), table_(shape, units, entries, requests, pins) {}

 private:
  base::fault_ptr<machine_tables> own_{};

 protected:
  unit_table table_;

 private:
  habits habits_{table_};
  replica_marks marks_{table_};

 protected:
  node_side node_{table_, habits_, marks_};

 private:
  flushes flushes_{table_, node_};
  manager_side manager_{table_, node_, marks_, flushes_};
  saving_rounds rounds_{table_, node_, manager_, marks_, *this};
  page_locks locks_{table_, habits_, node_, *this};
  broadcasts pushes_{table_, node_, marks_};
  page_out frames_{table_, node_};
  handovers handovers_{table_, marks_};
  sequential::losses losses_{table_, marks_, flushes_};
};

}  // namespace quire::sequential
