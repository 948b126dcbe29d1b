// SPDX-License-Identifier: BSD-3-Clause
// What the parts of a sequential machine share: the state of each unit, the directory's entries of those that this node
// manages, what the region is, and the steps that all of them take.
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "directory/pins.hpp"
#include "model/action.hpp"
#include "model/machine.hpp"
#include "model/message.hpp"
#include "protocol/sequential/state.hpp"

namespace quire::sequential {

using directory::pin;
using directory::pin_table;
using model::actions;
using model::fault_outcome;
using model::message;

class unit_table {
 public:
  unit_table(const region_shape& of, unit_state* states, directory_entry* managed, directory::request_pool& queued,
             pin_table& pinned)
      : shape(of), units(states), entries(managed), requests(queued), pins(pinned) {}
  unit_table(const unit_table&) = delete;
  unit_table& operator=(const unit_table&) = delete;

  /// The state of a unit that is used from now on.
  unit_state& touch(std::uint64_t unit) noexcept;
  /// The entry of one that this node manages; it may say that the unit is lost.
  directory_entry& touch_entry(std::uint64_t unit) noexcept;
  void regain(std::uint64_t unit);
  /// The right that `unit` gives this node, initial state included.
  [[nodiscard]] access right_of(std::uint64_t unit) const noexcept;
  /// It is inherited from a dead node, nobody alive has it, and nobody has asked since: its content is in the store.
  /// While deaths are being dealt with it may be that somebody has it after all.
  [[nodiscard]] bool is_inherited_in_store(std::uint64_t unit) const noexcept {
    return shape.refills && entries[unit].touched == 0 && manager_of(unit) == shape.self;
  }

  /// The node at which the unit is at the beginning, writable and zero, as long as its table says nothing else.
  [[nodiscard]] node_id origin_of(std::uint64_t unit) const noexcept {
    const node_id first = shape.managers.of(unit);
    return shape.members == nullptr ? first : shape.members->origin(first);
  }
  [[nodiscard]] node_id manager_of(std::uint64_t unit) const noexcept {
    const node_id first = shape.managers.of(unit);
    return shape.members == nullptr ? first : shape.members->successor(first, shape.nodes.nodes);
  }
  [[nodiscard]] bool is_dead(node_id node) const noexcept {
    return shape.members != nullptr && shape.members->is_dead(node);
  }
  void send(node_id to, const message& m, bool with_content, actions& out) const;
  [[nodiscard]] message reply_to(const message& m, model::message_kind kind) const;

  /// What is in a frame of this node is in that node's.
  [[nodiscard]] bool is_in_frame_of(node_id node) const noexcept { return shape.hosts.together(shape.self, node); }

  /// Content is kept on two nodes.
  [[nodiscard]] bool replicated() const noexcept { return shape.replicas.units != nullptr; }
  [[nodiscard]] bool is_saving(std::uint64_t unit) const noexcept {
    return replicated() && shape.replicas.units[unit].saving != 0;
  }
  [[nodiscard]] bool is_safe(std::uint64_t unit) const noexcept {
    return !replicated() || (shape.replicas.units[unit].unsaved == 0 && shape.replicas.units[unit].saving == 0);
  }

  /// A thread of this node may write from now on what a store keeps. Its manager's node knows, and who is elsewhere has
  /// been granted the right by it.
  void note_writable(std::uint64_t unit) noexcept {
    if (shape.stored && manager_of(unit) == shape.self) touch_entry(unit).dirty = 1;
  }
  /// The next write is to be noticed here.
  [[nodiscard]] bool is_clean_here(std::uint64_t unit) const noexcept {
    return shape.stored && manager_of(unit) == shape.self && entries[unit].dirty == 0;
  }

  region_shape shape;
  unit_state* units;
  directory_entry* entries;
  directory::request_pool& requests;
  pin_table& pins;
  counters count{};
  model::used_units used{};
  std::uint64_t outstanding = 0;  ///< units that this node has asked for and not got yet
};

}  // namespace quire::sequential
