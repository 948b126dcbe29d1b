// SPDX-License-Identifier: BSD-3-Clause
// A node is lost, and the others go on (loss.cpp says in which order). Calls and messages of each unit; jobs of at most
// 64 nodes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "protocol/sequential/flush.hpp"
#include "protocol/sequential/replica_marks.hpp"
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class losses final : public model::survival {
 public:
  losses(unit_table& table, replica_marks& marks, flushes& stored) noexcept
      : table_(table), marks_(marks), flushes_(stored) {}

  void cut(std::uint64_t unit, actions& out) override;
  void absorb(const message& m, actions& out) override;
  void report(std::uint64_t unit, actions& out) override;
  void settle(std::uint64_t unit, actions& out) override;
  /// After settle() on all nodes: a unit of this node's whose backup died is unsaved.
  void mend(std::uint64_t unit, actions& out) override;
  [[nodiscard]] std::span<const model::unit_table> tables() const noexcept override { return tables_; }
  [[nodiscard]] bool replicated() const noexcept override { return table_.replicated(); }

  void on_survives(const message& m);
  void on_owner_is(const message& m);
  void on_unit_lost(const message& m, actions& out);

  // This node leaves.
  /// Whether it has more of the unit than a copy.
  [[nodiscard]] bool keeps(std::uint64_t unit) const noexcept;
  /// Asks `to` to take the unit, if this node owns it.
  void hand_over(std::uint64_t unit, node_id to, actions& out);
  /// To who takes over what this node manages: the unit is not as at the beginning; or it is lost.
  void tell_heir(std::uint64_t unit, actions& out);
  /// After that: this node manages it no more.
  void forget_managed(std::uint64_t unit);
  /// Whether a message `survives` asks this node to take a unit.
  [[nodiscard]] static bool is_to_take(const message& m) noexcept;

 private:
  void on_elsewhere(const message& m);
  void tell_elsewhere(std::uint64_t unit, node_id manager, bool lost, actions& out);
  void lose(std::uint64_t unit, actions& out);
  [[nodiscard]] bool may_write(const unit_state& s, node_id manager) const noexcept;
  [[nodiscard]] bool restore(std::uint64_t unit, directory_entry& e, const message& best, actions& out);

  unit_table& table_;
  replica_marks& marks_;
  flushes& flushes_;
  std::array<model::unit_table, 2> tables_{
      {{table_.units, sizeof(unit_state)}, {table_.entries, sizeof(directory_entry)}}};
};

}  // namespace quire::sequential
