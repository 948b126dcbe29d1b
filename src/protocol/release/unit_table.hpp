// SPDX-License-Identifier: BSD-3-Clause
// What the parts of a release machine share: the state of each unit, what the region is, and the steps that all of them
// take: messages for homes, rights of the application view, the list of what the open interval wrote.
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "model/machine.hpp"
#include "protocol/release/interval.hpp"
#include "protocol/release/lone_writes.hpp"
#include "protocol/release/state.hpp"

namespace quire::release {

using model::actions;
using model::fault_outcome;
using model::message;

class unit_table {
 public:
  unit_table(const region_shape& of, unit_state* entries, interval& node, claim* of_losses = nullptr)
      : shape(of), units(entries), claims(of_losses), open(node), one_memory(of.one_memory) {}
  unit_table(const unit_table&) = delete;
  unit_table& operator=(const unit_table&) = delete;

  /// The state of a unit that is used from now on.
  unit_state& touch(std::uint64_t unit) noexcept;

  struct way {
    node_id to{};
    std::uint16_t moves = 0;
  };
  /// Where messages for the home go from here, and how many moves they are to say. A home that passes on to where the
  /// home was before says none: what comes back must not be taken for the message of one who knows that the home is
  /// here.
  [[nodiscard]] way way_of(std::uint64_t unit) const noexcept {
    const unit_state& s = units[unit];
    if (s.touched == 0) return {first_home_of(unit), 0};
    return {s.home, s.is_home != 0 ? std::uint16_t{0} : s.moves};
  }
  [[nodiscard]] bool is_home(std::uint64_t unit) const noexcept {
    return units[unit].touched != 0 ? units[unit].is_home != 0 : first_home_of(unit) == shape.self;
  }
  /// Who knows where the home is: the first home, or the next node alive.
  [[nodiscard]] node_id manager_of(std::uint64_t unit) const noexcept {
    const node_id first = shape.managers.of(unit);
    return shape.members == nullptr ? first : shape.members->successor(first, shape.nodes.nodes);
  }
  /// The home of a unit that this node has not used: as long as deaths are being dealt with, as before them.
  [[nodiscard]] node_id first_home_of(std::uint64_t unit) const noexcept {
    return open.recovering ? shape.managers.of(unit) : manager_of(unit);
  }
  /// Its home has died, and nobody has it, as far as this node knows.
  [[nodiscard]] bool is_lost(std::uint64_t unit) const noexcept { return claims != nullptr && claims[unit].lost != 0; }
  /// At the home: what is asked cannot be had.
  void refuse_lost(const message& m, actions& out) const;
  void believe(unit_state& s, node_id home, std::uint16_t moves) const noexcept;
  [[nodiscard]] bool is_for_here(const unit_state& s, node_id requester, std::uint16_t moves) const noexcept;
  [[nodiscard]] bool passes_on(const message& m, const unit_state& s, actions& out);
  void send(node_id to, const message& m, bool with_content, actions& out) const;
  void send_home(const message& m, actions& out) const;

  void permit(std::uint64_t unit, unit_state& s, access level, actions& out) const;
  void protect(std::uint64_t unit, unit_state& s, access level, actions& out) const;
  void watch_writes(std::uint64_t unit, unit_state& s, actions& out) const;
  /// The open interval has written the unit.
  void list(std::uint64_t unit, unit_state& s);

  [[nodiscard]] bool knows_copies(const unit_state& s) const noexcept;
  /// Whether a diff of this node, of any unit, is not known to be in its home's content.
  [[nodiscard]] bool awaits_homes() const noexcept;
  [[nodiscard]] bool may_leave(const unit_state& s) const noexcept;

  const region_shape shape;
  unit_state* units;
  claim* claims;  ///< null: the job ends when a node is lost
  interval& open;
  counters count{};
  model::used_units used{};
  lone_writes lone{};
  std::uint64_t outstanding = 0;  ///< units that this node has asked for and not got yet
  bool homes_stay = false;        ///< none moves: the region's protocol is about to change
  bool checked = false;           ///< a parallel block is to be checked (blocks.hpp)
  bool one_memory;                ///< as the shape says, until each node gets frames of its own (I12)
};

}  // namespace quire::release
