// SPDX-License-Identifier: BSD-3-Clause
// Plans: what this node is to ask for when a phase of the program begins, as it used it in that phase before. A phase
// is what follows a barrier, or the beginning of a parallel region; its key says which. After Cai, Strazdins and
// Rendell, "Region-Based Prefetch Techniques for Software Distributed Shared Memory Systems" (CCGrid 2010). Pure.
//
// A unit gets into the plan of a phase when threads have faulted on it, or read-ahead has asked for it, in two
// executions of the phase in a row. The first time that it is asked for, and now and then later, it is looked at: it is
// not mapped when it comes, so that a fault tells whether it is used, and how. The first unit of a neighbourhood is
// looked at for all of them, as long as it is used. What was not used, or was taken away before it was used, leaves the
// plan, and has to be asked for by faults several times before it comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/fault_heap.hpp"
#include "model/ids.hpp"
#include "model/neighbours.hpp"

namespace quire::core {

class phase_plans {
 public:
  static constexpr std::size_t most_units = 32'768;    ///< of one execution of a phase: with more it has no plan
  static constexpr std::size_t most_in_all = 262'144;  ///< of all phases; beyond, the oldest one is forgotten
  static constexpr std::size_t most_phases = 4096;     ///< beyond, all are forgotten
  static constexpr unsigned looked_at = 16;            ///< of so many executions one looks again
  static constexpr std::uint64_t neighbours = model::neighbours;  ///< units; then it looks at one of so many

  /// How a thread came to use a unit.
  enum class use : std::uint8_t {
    asked,  ///< its fault asked another node for it
    came,   ///< its fault waited for what had been asked for
    here,   ///< its fault was served from what was here
    ahead,  ///< no fault yet: read-ahead has asked for it
  };
  /// What is to be asked for.
  struct need {
    model::region_id region{};
    std::uint64_t unit = 0;
    bool write = false;  ///< it will be written
    bool looks = false;  ///< it is not to be mapped
  };
  struct counters {
    std::uint64_t asked = 0, unused = 0;
  };

  /// A number for each unit of each region.
  [[nodiscard]] static std::uint64_t place_of(model::region_id region, std::uint64_t unit) noexcept {
    return std::uint64_t{region.value()} << 48 | unit;
  }

  /// A phase begins, and the one before it ends. Key 0: of what follows nothing is known.
  void begin(std::uint64_t key) noexcept;
  [[nodiscard]] bool records() const noexcept { return now_ != nullptr; }
  /// The unit is not mapped, so that its use is seen: nothing may map it without a fault.
  [[nodiscard]] bool looks(model::region_id region, std::uint64_t unit) const noexcept;
  /// Nearly all that the phase used the last time was planned, and so it seems this time: read-ahead would bring what
  /// it does not use.
  [[nodiscard]] bool covers() const noexcept { return now_ != nullptr && now_->covers && strays_ <= most_strays(); }
  void note(model::region_id region, std::uint64_t unit, bool write, use how) noexcept;
  /// What the plan has next, in ascending order of regions and units. None at its end.
  [[nodiscard]] std::optional<need> next() noexcept;
  /// The last of next() has been asked for; `elsewhere`: of another node. Else it was here, and is mapped.
  void note_asked(bool elsewhere) noexcept;
  [[nodiscard]] const counters& count() const noexcept { return count_; }

 private:
  /// In a plan from `planned` on; below 0 it was asked for in vain: the further the more often.
  static constexpr std::int8_t planned = 2;
  static constexpr std::uint8_t most_in_vain = 5;
  static constexpr std::uint8_t forgotten = 8;  ///< executions in which nobody wanted it
  struct unit_plan {
    std::uint64_t place = 0;
    std::int8_t score = 0;
    std::uint8_t idle = 0;     ///< executions in a row in which nobody used it
    std::uint8_t in_vain = 0;  ///< how often it was asked for in vain
    bool write = false;
    bool proven = false;  ///< it was used when it was looked at
    bool asked = false;   ///< in this execution
    bool looked = false;  ///< it was looked at when it was asked for
  };
  struct event {
    std::uint64_t place = 0;
    std::uint8_t uses = 0;  ///< bits of `use`, and of a write
  };
  using unit_plans = base::fault_vector<unit_plan>;
  struct phase {
    unit_plans units{};  ///< in ascending order of places
    std::uint64_t used = 0;
    std::size_t planned = 0;  ///< units of its plan
    unsigned executions = 0;
    bool covers = false;
  };
  static constexpr std::uint8_t write_bit = 1 << 7;
  [[nodiscard]] static constexpr std::uint8_t bit(use how) noexcept {
    return static_cast<std::uint8_t>(1 << static_cast<unsigned>(how));
  }
  [[nodiscard]] std::size_t most_strays() const noexcept { return 16 + now_->planned / 4; }
  void end() noexcept;
  void sort_events() noexcept;
  /// What becomes of a unit of the plan, or of a new one, after an execution. False: it leaves.
  [[nodiscard]] bool learn(unit_plan& u, std::uint8_t uses) noexcept;
  [[nodiscard]] bool learn_of_asked(unit_plan& u, std::uint8_t uses) noexcept;
  [[nodiscard]] const unit_plan* find(std::uint64_t place) const noexcept;
  [[nodiscard]] bool is_looked_at(const unit_plan& u) const noexcept;
  void make_room() noexcept;

  base::fault_hash_map<std::uint64_t, phase> phases_{};
  phase* now_ = nullptr;  ///< null: no phase, or one of too many units
  base::fault_vector<event> events_{};
  unit_plans merged_{};
  std::size_t next_ = 0;
  std::size_t strays_ = 0;  ///< faults of this execution that asked another node
  std::uint64_t clock_ = 0;
  std::size_t in_all_ = 0;
  std::uint64_t looks_again_ = neighbours;  ///< which one of each neighbourhood is looked at again
  bool looks_ = false;
  counters count_{};
};

}  // namespace quire::core
