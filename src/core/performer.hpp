// SPDX-License-Identifier: BSD-3-Clause
// Performs the actions of machines on mechanisms, several units at a time: a run of actions (action_runs.hpp) is one
// system call, one message. Driver's thread only; no heap.
#pragma once

#include <cstdint>

#include "core/action_runs.hpp"
#include "core/region_slot.hpp"
#include "model/action.hpp"

namespace quire::core {

/// Where performed actions go; implemented by the engine.
class effects {
 public:
  virtual void send_units(region_slot& r, model::node_id to, const model::message& m, std::uint64_t first,
                          std::uint64_t count, bool with_content) noexcept = 0;
  /// Threads are about to be let in, with the right to read or write.
  virtual void use_frames(region_slot& r, std::uint64_t first, std::uint64_t count, model::access level) noexcept = 0;
  /// Threads that had the right have less of it from now on.
  virtual void note_protected(region_slot& r, model::access from, model::access to) noexcept = 0;
  /// The units' content becomes what threads have written into private copies.
  virtual void publish(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept = 0;
  virtual void wake_units(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept = 0;
  /// Threads that wait for the units do so in vain: their content cannot be had, `error` (errno) says why.
  virtual void refuse_units(region_slot& r, std::uint64_t first, std::uint64_t count, int error) noexcept = 0;
  /// The content goes to the region's backing, as it is now.
  virtual void flush_units(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept = 0;
  /// How the units' way out of memory has ended: a model::leave_end.
  virtual void leave_units(region_slot& r, std::uint64_t first, std::uint64_t count, std::uint64_t end) noexcept = 0;
  virtual void operate(region_slot& r, const model::action& a) noexcept = 0;
  virtual void complete_call(const model::message& m) noexcept = 0;
  virtual void hold_unit(region_slot& r, std::uint64_t unit, std::uint64_t level) noexcept = 0;
  virtual void make_twins(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept = 0;
  /// They are about to go.
  virtual void drop_twins(region_slot&, std::uint64_t /*first*/, std::uint64_t /*count*/) noexcept {}
  virtual void tell_unseen(region_slot&, std::uint64_t /*first*/, std::uint64_t /*count*/) noexcept {}
  /// As `a` says, of so many units from its own on.
  virtual void send_diffs(region_slot& r, const model::action& a, std::uint64_t count) noexcept = 0;
  virtual void send_patch(region_slot& r, const model::action& a) noexcept = 0;
  /// All steps so far have been taken as a whole, and performed.
  virtual void end_of_actions() noexcept = 0;

 protected:
  ~effects() = default;
};

/// Ends the process: a page of the region, at this address of programs, has no memory. Fault context.
[[noreturn]] void no_frame(const region_slot& r, std::uint64_t address) noexcept;

class performer {
 public:
  explicit performer(effects& to) : to_(to) {}

  /// Takes the actions of one step. They are performed by flush() at the latest.
  void take(region_slot& r, const model::actions& list) noexcept;
  /// Performs everything taken so far. Only between steps.
  void flush() noexcept;
  /// Lets threads use a page of the natural view, all units of which permit `level`. Nothing is taken and not
  /// performed.
  void compose(region_slot& r, std::uint64_t page, model::access level) noexcept;
  /// A thread faults on a unit that it may use, as far as the machine knows: see mapping::map_again().
  void map_again(region_slot& r, std::uint64_t unit, model::access level) noexcept;

 private:
  using run = action_run<region_slot>;

  void take(region_slot& r, const model::action& a) noexcept;
  void perform_runs() noexcept;
  void perform(const run& r) noexcept;
  void permit(const run& r) noexcept;
  void protect(const run& r) noexcept;

  effects& to_;
  action_runs<region_slot> runs_{};
  bool performs_ = false;
};

}  // namespace quire::core
