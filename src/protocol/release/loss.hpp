// SPDX-License-Identifier: BSD-3-Clause
// A node is lost, and the others go on: of each unit one home is found, and nobody has a copy any more (loss.cpp).
// Calls and messages of each unit, in the order of core/survival.cpp; jobs of at most 64 nodes. Driver's thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "model/survival.hpp"
#include "protocol/release/copies.hpp"
#include "protocol/release/homes.hpp"
#include "protocol/release/rights.hpp"
#include "protocol/release/unit_table.hpp"

namespace quire::release {

class losses final : public model::survival {
 public:
  losses(unit_table& table, rights& of, homes& others) noexcept : table_(table), rights_(of), homes_(others) {
    tables_ = {{{table.units, sizeof(unit_state)}, {table.claims, sizeof(claim)}}};
  }

  void cut(std::uint64_t unit, actions& out) override;
  void absorb(const message& m, actions& out) override;
  void report(std::uint64_t unit, actions& out) override;
  void settle(std::uint64_t unit, actions& out) override;
  /// After settle() on all nodes: what threads here have changed goes to the home, and copies go.
  void mend(std::uint64_t unit, actions& out) override;
  [[nodiscard]] std::span<const model::unit_table> tables() const noexcept override { return tables_; }

  /// A diff that `writer` made was sent by this node to one that is dead, which has not acknowledged it. After cut().
  void owes(std::uint64_t unit, node_id writer);
  /// This node keeps such a diff until the unit has a home. After cut(), before report().
  void holds_back(std::uint64_t unit, node_id writer);
  /// Whether this node's content takes what was sent before its sender knew of the death. After cut(), before mend().
  [[nodiscard]] bool takes_old(std::uint64_t unit) const noexcept;
  void on_taken(std::uint64_t unit);
  /// After mend(): whether diffs that were kept count. Else the home has more than they say, or there is none.
  [[nodiscard]] bool takes_held(std::uint64_t unit) const noexcept { return table_.claims[unit].how == outcome::kept; }

  void on_home_survives(const message& m);
  void on_home_settled(const message& m);
  void on_home_lost(const message& m, actions& out);

 private:
  [[nodiscard]] bool is_dead(std::uint8_t name) const noexcept;
  void add_home(claim& c, node_id who, std::uint8_t since) const noexcept;
  void decide(std::uint64_t unit, claim& c) const noexcept;
  void give_up_copy(std::uint64_t unit, unit_state& s, node_id home, bool lost, actions& out);

  unit_table& table_;
  rights& rights_;
  homes& homes_;
  std::array<model::unit_table, 2> tables_{};
};

}  // namespace quire::release
