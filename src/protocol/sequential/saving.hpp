// SPDX-License-Identifier: BSD-3-Clause
// Content on two nodes: the rounds that make it safe (saving.cpp). They are driven by advance() of replicas.hpp, which
// says in which order.
#pragma once

#include <cstdint>

#include "protocol/sequential/manager.hpp"
#include "protocol/sequential/node.hpp"
#include "protocol/sequential/replica_marks.hpp"
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class saving_rounds {
 public:
  saving_rounds(unit_table& table, node_side& node, manager_side& manager, replica_marks& marks,
                model::machine& whole) noexcept
      : table_(table), node_(node), manager_(manager), marks_(marks), whole_(whole) {}

  [[nodiscard]] const region_shape& shape() const noexcept { return table_.shape; }
  [[nodiscard]] std::uint64_t units() const noexcept { return table_.shape.units; }
  void begin_round() noexcept;
  /// Units of the round; units() ends them.
  [[nodiscard]] std::uint64_t first_in_round() const noexcept;
  [[nodiscard]] std::uint64_t next_in_round(std::uint64_t unit) const noexcept;
  void on_save(std::uint64_t unit, actions& out);
  /// The units of a round that has ended, one after the other, for on_saved().
  [[nodiscard]] bool take_saved(std::uint64_t& unit) noexcept { return marks_.take_saved(unit); }
  void on_saved(std::uint64_t unit, actions& out);
  /// What has waited for the unit, one after the other; then, once, on_safe().
  [[nodiscard]] bool has_order(std::uint64_t unit) const noexcept;
  void on_order(std::uint64_t unit, actions& out);
  void on_safe(std::uint64_t unit, actions& out) { out.add(model::action_kind::wake, unit); }

  void on_replica(const message& m, actions& out);
  void on_replica_ack(const message& m);

 private:
  unit_table& table_;
  node_side& node_;
  manager_side& manager_;
  replica_marks& marks_;
  model::machine& whole_;
};

}  // namespace quire::sequential
