// SPDX-License-Identifier: BSD-3-Clause
// Phases of the program, told by quire_plan(): at the beginning of one this node asks for what it used in it before
// (phase_plans.hpp), in few messages, with the rights that it will want; content that is here already is mapped. A few
// units are on their way at a time; the others follow as these come.
//
// When a lock comes from another node, what is used under it is asked for before its thread goes on (lock_plans.hpp).
#pragma once

#include <cstdint>

#include "core/plans/lock_plans.hpp"
#include "core/plans/phase_plans.hpp"
#include "model/machine.hpp"

namespace quire::core {

class core;
class read_ahead;
struct region_slot;

class planner {
 public:
  explicit planner(core& node) noexcept : core_(node) {}

  /// A phase of this node begins. An application thread.
  void begin(std::uint64_t key) noexcept;

  // Driver's thread.
  /// A thread has come for a unit; `outcome`: what the machine said; `by`: its.
  void on_fault(const region_slot& r, std::uint64_t unit, model::access want, model::fault_outcome outcome,
                const read_ahead& by) noexcept {
    if (&by == holder_ || plans_.records()) note(r, unit, want, outcome, &by == holder_);
  }
  /// A thread has got a lock, a number other than 0. `came`: from another node.
  void begin_section(std::uint64_t lock, const read_ahead& by, bool came) noexcept;
  /// It is going to give it back. Nothing happens if it was not so.
  void end_section(std::uint64_t lock) noexcept {
    if (sections_.end(lock)) holder_ = nullptr;
  }
  void on_read_ahead(const region_slot& r, std::uint64_t unit) noexcept { note_ahead(r, unit, false); }
  void on_write_ahead(const region_slot& r, std::uint64_t unit) noexcept { note_ahead(r, unit, true); }
  /// The plan brings what threads will use of this region: read-ahead would bring what they do not use.
  [[nodiscard]] bool covers(const region_slot& r, const read_ahead& by) const noexcept {
    return (&by == holder_ ? sections_.plans() : plans_).covers() && !is_left_alone(r);
  }
  /// The unit may be mapped although no thread has faulted on it.
  [[nodiscard]] bool may_map(const region_slot& r, std::uint64_t unit) const noexcept;
  void on_woken(std::uint64_t count) noexcept { on_way_ -= count < on_way_ ? count : on_way_; }
  /// Goes on with the plan. True if there was anything to do.
  bool look() noexcept;
  /// What was asked for with the last lock that came is not all here.
  [[nodiscard]] bool awaits() noexcept;
  [[nodiscard]] phase_plans::counters count() const noexcept {
    const auto &a = plans_.count(), &b = sections_.plans().count();
    return {a.asked + b.asked, a.unused + b.unused};
  }

 private:
  static constexpr std::uint64_t most_on_way = 1024, few_on_way = 512;

  void note_ahead(const region_slot& r, std::uint64_t unit, bool write) noexcept;
  void note(const region_slot& r, std::uint64_t unit, model::access want, model::fault_outcome outcome,
            bool in_section) noexcept;
  void ask() noexcept;
  void ask_for_section() noexcept;
  /// The last need of a plan. The region; null: there is nothing to ask for.
  region_slot* ask_for(phase_plans& of, const phase_plans::need& n) noexcept;
  /// Where nothing is asked for in advance, also as memory is short.
  [[nodiscard]] bool is_left_alone(const region_slot& r) const noexcept;

  core& core_;
  phase_plans plans_{};
  std::uint64_t on_way_ = 0;
  bool more_ = false;
  lock_plans sections_{};
  const read_ahead* holder_ = nullptr;               ///< the thread whose critical section is looked at
  bool enters_ = false;                              ///< the plan of its lock is still to be asked for
  base::fault_vector<phase_plans::need> awaited_{};  ///< asked for by that, and to be mapped
};

}  // namespace quire::core
