// SPDX-License-Identifier: BSD-3-Clause
// Page locking (KOAN; pinning.cpp). A pinned unit is writable here and stays so: orders to give it away wait for the
// end of the pin.
#pragma once

#include <cstdint>

#include "protocol/sequential/doubles.hpp"
#include "protocol/sequential/node.hpp"
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class page_locks final : public model::page_locking {
 public:
  page_locks(unit_table& table, habits& habits, node_side& node, model::machine& whole) noexcept
      : table_(table), habits_(habits), node_(node), whole_(whole) {}

  /// A thread wants `unit` pinned. Counts even if it must wait, and then holds as soon as the unit has come: `local`
  /// says that it is pinned now. Else the thread waits for `wake` and asks on_pin_again().
  fault_outcome on_pin(std::uint64_t unit, actions& out) override;
  fault_outcome on_pin_again(std::uint64_t unit, actions& out) override;
  [[nodiscard]] bool on_unpin(std::uint64_t unit, actions& out) override;
  /// A thread that waits for a pin waits no longer. The unit may still come.
  void on_pin_given_up(std::uint64_t unit, actions& out) override;
  void on_pins_dropped(std::uint64_t unit, actions& out) override;
  [[nodiscard]] bool is_pinned(std::uint64_t unit) const noexcept override { return table_.units[unit].pinned != 0; }
  /// At the manager: the node that has `unit` and would have to give it to the next who asks.
  [[nodiscard]] node_id holder_of(std::uint64_t unit) const noexcept override;

  [[nodiscard]] bool put_off(const message& m);

 private:
  void unpin(std::uint64_t unit, std::uint32_t times, actions& out);

  unit_table& table_;
  habits& habits_;
  node_side& node_;
  model::machine& whole_;
};

}  // namespace quire::sequential
