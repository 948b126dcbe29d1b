// SPDX-License-Identifier: BSD-3-Clause
// The node's side: faults and calls of its threads, answers, and orders of managers to give rights up (node.cpp).
#pragma once

#include <cstdint>

#include "protocol/sequential/doubles.hpp"
#include "protocol/sequential/replica_marks.hpp"
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class node_side {
 public:
  node_side(unit_table& table, habits& habits, replica_marks& marks) noexcept
      : table_(table), habits_(habits), marks_(marks) {}

  /// `lost` says how many times in a row the thread was woken for this very access and could not do it after all;
  /// unless that is 0, the node keeps the unit a while when it comes (see `hold`).
  fault_outcome on_fault(std::uint64_t unit, access want, actions& out, unsigned lost = 0);
  bool on_read_ahead(std::uint64_t unit, access want, bool withhold, actions& out, bool guessed);
  bool on_hint(std::uint64_t unit, access want, actions& out);
  /// A node that leaves keeps the unit, and wants this one to have it. Nothing of it is mapped when it comes.
  void on_take(std::uint64_t unit, actions& out);
  /// This node leaves, and keeps nothing: what it may read goes, and nobody needs to hear of that.
  void give_up(std::uint64_t unit, actions& out);
  fault_outcome on_fault_alone(std::uint64_t unit, actions& out);
  bool on_fault_around(std::uint64_t unit, actions& out);
  void on_hold_over(std::uint64_t unit, actions& out);
  void on_atomic(const message& call, actions& out);

  void on_read_reply(const message& m, actions& out);
  void on_write_reply(const message& m, actions& out);
  void on_atomic_reply(const message& m, actions& out);
  void on_invalidate_ack(const message& m, actions& out);
  void on_fetch(const message& m, actions& out);
  void on_atomic_fetch(const message& m, actions& out);
  void on_invalidate(const message& m, actions& out);

  void ask(std::uint64_t unit, unit_state& s, access want, actions& out);
  void permit(std::uint64_t unit, unit_state& s, access want, actions& out);
  void lower(std::uint64_t unit, unit_state& s, access to, actions& out);
  void end_hold(std::uint64_t unit, unit_state& s, actions& out) const;

 private:
  void arrived(std::uint64_t unit, unit_state& s, bool settled, actions& out);
  void complete_write_if_ready(std::uint64_t unit, unit_state& s, bool settled, actions& out);
  void send_done(std::uint64_t unit, actions& out) const;
  [[nodiscard]] access wish(unit_state& s, access want);
  void note_written(unit_state& s, const message& m) const;

  unit_table& table_;
  habits& habits_;
  replica_marks& marks_;
};

}  // namespace quire::sequential
