// SPDX-License-Identifier: BSD-3-Clause
// Phases of the program, told by quire_plan(): at the beginning of one this node asks for what it used in it before
// (phase_plans.hpp), in few messages, with the rights that it will want; content that is here already is mapped. A few
// units are on their way at a time; the others follow as these come.
#pragma once

#include <cstdint>

#include "core/plans/phase_plans.hpp"
#include "model/machine.hpp"

namespace quire::core {

class core;
struct region_slot;

class planner {
 public:
  explicit planner(core& node) noexcept : core_(node) {}

  /// A phase of this node begins. An application thread.
  void begin(std::uint64_t key) noexcept;

  // Driver's thread.
  /// A thread has come for a unit; `outcome`: what the machine said.
  void on_fault(const region_slot& r, std::uint64_t unit, model::access want, model::fault_outcome outcome) noexcept {
    if (plans_.records()) note(r, unit, want, outcome);
  }
  void on_read_ahead(const region_slot& r, std::uint64_t unit) noexcept { note_ahead(r, unit, false); }
  void on_write_ahead(const region_slot& r, std::uint64_t unit) noexcept { note_ahead(r, unit, true); }
  /// The plan brings what threads will use of this region: read-ahead would bring what they do not use.
  [[nodiscard]] bool covers(const region_slot& r) const noexcept { return plans_.covers() && !is_left_alone(r); }
  /// The unit may be mapped although no thread has faulted on it.
  [[nodiscard]] bool may_map(const region_slot& r, std::uint64_t unit) const noexcept;
  void on_woken(std::uint64_t count) noexcept { on_way_ -= count < on_way_ ? count : on_way_; }
  /// Goes on with the plan. True if there was anything to do.
  bool look() noexcept;
  [[nodiscard]] const phase_plans::counters& count() const noexcept { return plans_.count(); }

 private:
  static constexpr std::uint64_t most_on_way = 1024, few_on_way = 512;

  void note_ahead(const region_slot& r, std::uint64_t unit, bool write) noexcept;
  void note(const region_slot& r, std::uint64_t unit, model::access want, model::fault_outcome outcome) noexcept;
  void ask() noexcept;
  /// The region; null: there is nothing to ask for.
  region_slot* ask_for(const phase_plans::need& n) noexcept;
  /// Where nothing is asked for in advance, also as memory is short.
  [[nodiscard]] bool is_left_alone(const region_slot& r) const noexcept;

  core& core_;
  phase_plans plans_{};
  std::uint64_t on_way_ = 0;
  bool more_ = false;
};

}  // namespace quire::core
