// SPDX-License-Identifier: BSD-3-Clause
// Faults of threads on their way to the machines, and threads that ask for memory in advance: fault.cpp. What comes
// along with a unit: fault_ahead.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "core/ops.hpp"
#include "core/read_lines.hpp"
#include "model/action.hpp"

namespace quire::sharing {
class table;
}

namespace quire::core {

class core;
class guards;
class hot_units;

class fault_path {
 public:
  explicit fault_path(core& node);

  /// The calling thread has accessed shared memory that it may not access, and may try again when this returns.
  /// QUIRE_BAD_ADDRESS: the address is not shared; closed_page; QUIRE_LOST: nobody has the unit any more. `entered_ns`:
  /// when the fault came to a handler. Fault context.
  [[nodiscard]] base::status fault(std::uint64_t address, bool write, std::uint64_t entered_ns) noexcept;
  /// Ends the process with a line if `address` is one at which the runtime itself looks at content: there is no frame.
  /// Fault context.
  void check_frames(std::uint64_t address) const noexcept;
  /// The same of what the address belongs to, in a call (`in_signal` false) or a signal.
  base::status fault_and_wait(region_ref at, const accessed& what, model::access want, bool in_signal,
                              std::uint64_t entered_ns, std::uint64_t address) noexcept;
  /// What may come ahead in one piece.
  [[nodiscard]] std::uint64_t most_ahead_bytes() const noexcept;
  /// What fault() says of a page that is closed to threads of this node (core/page_closing.hpp).
  static constexpr quire_status closed_page = QUIRE_BUSY;
  /// Of an address in a region that has gone: ends the process with a line that says so. Fault context.
  void check_gone(std::uint64_t address) const noexcept;

  // Driver's thread.
  /// Faults that detectors tell by their descriptors: the kernel holds the threads, also those inside a system call.
  /// True if there were any.
  bool drain_kernel_faults() noexcept;
  /// The kernel holds the thread, and does not tell which one it is.
  void begin_kernel_fault(region_slot& r, std::uint64_t address, bool write) noexcept;
  /// Maps a page of several units as a whole to what all of them permit, if that is as much as `want`. True if it is.
  bool compose(region_slot& r, std::uint64_t page, model::access want) noexcept;
  /// Units have come, or may be asked for again.
  void wake_units(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  /// Threads that the kernel holds, about: they leave their cores free.
  [[nodiscard]] std::size_t held_by_kernel() const noexcept { return kernel_waiting_; }

  /// Changes of a unit are about to leave: `bytes` bytes from `offset` on, of which those count that differ from what
  /// they were. For the first of a unit, `begins`. Nothing unless parts are counted.
  void note_changes(const region_slot& r, std::uint64_t unit, std::uint64_t offset, std::uint64_t bytes,
                    const std::byte* now, const std::byte* before, bool begins) noexcept;

  /// The region goes.
  void forget(const region_slot& r) noexcept;

 private:
  template <class F>
  model::fault_outcome let_in(region_slot& r, std::uint64_t unit, model::access want, unsigned lost, bool again,
                              sweeps& stream, F&& waits) noexcept;
  template <class F>
  model::fault_outcome let_in_whole(region_slot& r, std::uint64_t first, model::access want, unsigned lost,
                                    sweeps& stream, F&& waits) noexcept;
  void compose_around(region_slot& r, std::uint64_t page, sweeps& stream) noexcept;
  [[nodiscard]] read_ahead_plan plan_for_whole(const region_slot& r, std::uint64_t page, model::access want, bool here,
                                               sweeps& stream) const noexcept;
  void read_on_whole(region_slot& r, const read_ahead_plan& plan, model::access want, sweeps& stream) noexcept;
  void begin_fault(fault_op& o) noexcept;
  void note_wait(region_slot& r, std::uint64_t unit, bool write, std::uint64_t ns) noexcept;
  void record(const region_slot& r, const fault_op& o, bool in_signal, std::uint64_t entered_ns) noexcept;
  void record_access(const region_slot& r, std::uint64_t address) noexcept;
  void note_use(const region_slot& r, std::uint64_t unit, std::uint64_t address, model::access want,
                model::fault_outcome how) noexcept;
  void map_again(region_slot& r, std::uint64_t unit, model::access want, const model::actions& done) noexcept;
  [[nodiscard]] std::uint64_t window_bytes() const noexcept;
  [[nodiscard]] read_ahead_plan plan_for(const region_slot& r, std::uint64_t unit, model::access want, bool here,
                                         sweeps& stream) noexcept;
  void map_around(region_slot& r, std::uint64_t unit, sweeps& stream) noexcept;
  void map_fresh(region_slot& r, std::uint64_t unit) noexcept;
  [[nodiscard]] bool map_next(region_slot& r, std::uint64_t unit) noexcept;
  /// It is in memory, and no plan wants to see its first use.
  [[nodiscard]] bool may_map(const region_slot& r, std::uint64_t unit) const noexcept;
  [[nodiscard]] bool may_write_on(const region_slot& r, std::uint64_t unit) const noexcept;
  void write_on(region_slot& r, std::uint64_t unit) noexcept;
  void read_on(region_slot& r, const read_ahead_plan& plan, unit_range units, model::access want,
               sweeps& stream) noexcept;

  void bring_mates(region_slot& r, unit_range some, model::access want) noexcept;

  [[nodiscard]] bool is_guarded(std::uint64_t address) const noexcept;
  void check_guards(std::uint64_t address) const noexcept;

  [[nodiscard]] static read_ahead_plan near(const region_slot& r, std::uint64_t unit) noexcept;

  core& core_;
  guards& guards_;
  mutable std::atomic<bool> has_told_of_guard_{false};
  static constexpr std::uint64_t most_writes_on = 32;  ///< units
  read_lines lines_;
  read_lines writes_;     ///< of local write faults
  sweeps kernel_stream_;  ///< faults that come through a descriptor do not tell their thread
  std::size_t kernel_waiting_ = 0;
  hot_units& hot_;
  sharing::table* sharing_;  ///< null: nobody wants to know
};

}  // namespace quire::core
