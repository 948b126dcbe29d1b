// SPDX-License-Identifier: BSD-3-Clause
// Page locking (KOAN). The pin of a unit is a lock that its home keeps: who has it keeps the others' requests for the
// unit waiting there. Ending a pin releases, getting it acquires (pinning.cpp). Threads that wait are woken, and call
// on_pin_again().
#pragma once

#include <cstdint>

#include "protocol/release/copies.hpp"
#include "protocol/release/grants.hpp"
#include "protocol/release/homes.hpp"
#include "protocol/release/rights.hpp"
#include "protocol/release/unit_table.hpp"

namespace quire::release {

class page_locks final : public model::page_locking {
 public:
  page_locks(unit_table& table, rights& of, copies& own, homes& others, grants& pinned) noexcept
      : table_(table), rights_(of), copies_(own), homes_(others), grants_(pinned) {}

  /// A thread wants `unit` pinned: counts even if it must wait. `local`: it is pinned now, and its content is here.
  fault_outcome on_pin(std::uint64_t unit, actions& out) override;
  fault_outcome on_pin_again(std::uint64_t unit, actions& out) override;
  [[nodiscard]] bool on_unpin(std::uint64_t unit, actions& out) override;
  /// A thread that waits for a pin waits no longer. The pin may still come, and is given back.
  void on_pin_given_up(std::uint64_t unit, actions& out) override;
  void on_pins_dropped(std::uint64_t unit, actions& out) override;
  [[nodiscard]] bool is_pinned(std::uint64_t unit) const noexcept override { return table_.units[unit].pinned != 0; }
  /// At the home: who has the pin; this node itself if nobody has.
  [[nodiscard]] node_id holder_of(std::uint64_t unit) const noexcept override;
  [[nodiscard]] bool awaits_grant(std::uint64_t unit) const noexcept override {
    return table_.units[unit].pin_data != 0;
  }
  /// At the home: a pin_grant with content is about to be sent.
  void on_grant_leaves(std::uint64_t unit, actions& out);

  void on_pin_request(const message& m, actions& out);
  void on_pin_grant(const message& m, actions& out);
  void on_pin_end(const message& m, actions& out);
  void on_pin_next(const message& m, actions& out);

 private:
  void unpin(std::uint64_t unit, std::uint32_t times, actions& out);
  void end_pin(std::uint64_t unit, unit_state& s, actions& out);
  void give_pin(const message& m, unit_state& s, grants::grant& g, actions& out);
  void serve_next(std::uint64_t unit, unit_state& s, actions& out);

  unit_table& table_;
  rights& rights_;
  copies& copies_;
  homes& homes_;
  grants& grants_;
};

}  // namespace quire::release
