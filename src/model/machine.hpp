// SPDX-License-Identifier: BSD-3-Clause
// What every protocol is to the engine: a machine without I/O for the units of one region on one node. Called on the
// driver's thread; every call takes one unit and appends what is to be done, in order. src/protocol has the machines.
#pragma once

#include <cstdint>

#include "model/action.hpp"
#include "model/message.hpp"

namespace quire::model {

/// What became of a fault.
enum class fault_outcome : std::uint8_t {
  local,    ///< the node had the right already; permission is among the actions
  started,  ///< a request is on its way; the thread waits for `wake`
  joined,   ///< somebody has asked already (a fault in race); the thread waits for `wake`
  lost,     ///< nobody has the unit any more: its only copy was on a node that is dead
  refused,  ///< only of a pin: this node has pinned as many units as it may
};

/// What the frame of a unit is needed for on this node (page-out).
enum class frame_use : std::uint8_t {
  none,    ///< the content means nothing here: the frame may go, and nobody needs to know
  copy,    ///< a clean copy of what another node has: may be given up by on_drop_copy
  needed,  ///< the content is this node's to keep: elsewhere, if not in memory (after on_unmap)
  busy,    ///< not now
};

class machine {
 public:
  virtual ~machine() = default;

  /// A thread touched `unit` and may not `want` it. `lost` says how many times in a row the thread was woken for this very
  /// access and could not do it after all.
  virtual fault_outcome on_fault(std::uint64_t unit, access want, actions& out, unsigned lost) = 0;
  /// Ask for `unit` before anybody touches it. With `withhold` it is not mapped when it arrives. `guessed`: it will be read,
  /// and then written like those before it. True if asked.
  virtual bool on_read_ahead(std::uint64_t unit, access want, bool withhold, actions& out, bool guessed) = 0;
  /// A thread says that it is going to `want` the unit soon. True if there was anything to do.
  virtual bool on_hint(std::uint64_t unit, access want, actions& out) { return on_read_ahead(unit, want, false, out, false); }
  /// Map a unit that this node may use already, together with a neighbour that faulted. True if there was anything to do.
  virtual bool on_fault_around(std::uint64_t unit, actions& out) = 0;
  /// A thread of this node calls for an atomic operation: `operation`, a, b, c (offset) and token of `call` are given.
  virtual void on_atomic(const message& call, actions& out) = 0;
  /// A message for one unit (m.unit; m.count is ignored). Content, if any, has been placed already.
  virtual void on_message(const message& m, actions& out) = 0;
  // Page-out (KOAN): a node that is short of memory gives up frames.
  [[nodiscard]] virtual frame_use use_of_frame(std::uint64_t unit) const noexcept = 0;
  /// Gives up a unit whose frame is a `copy`. Afterwards the frame is needed for nothing.
  virtual void on_drop_copy(std::uint64_t unit, actions& out) = 0;
  /// The content of a unit whose frame is `needed` leaves memory: threads that touch it are to fault. Rights stay.
  virtual void on_unmap(std::uint64_t unit, actions& out) = 0;
  /// Asks for `unit`, so that this node has its content instead of one that is short of memory. True if asked.
  virtual bool on_please_take(std::uint64_t unit, actions& out) = 0;
  /// What the application view permits, as far as the machine knows.
  [[nodiscard]] virtual access mapped(std::uint64_t unit) const noexcept = 0;
  /// Whether content that arrives for `unit` may be placed: nobody here can see or make a change of it.
  [[nodiscard]] virtual bool awaits_content(std::uint64_t unit) const noexcept = 0;
  /// Whether the content of `unit` on this node may differ from zero.
  [[nodiscard]] virtual bool is_written(std::uint64_t unit) const noexcept = 0;
  /// Whether it is this node that keeps the content of `unit` for all (owner, home), while nothing of it is on its way.
  [[nodiscard]] virtual bool keeps(std::uint64_t unit) const noexcept = 0;
  /// Whether the content of `unit` on this node means anything.
  [[nodiscard]] virtual bool has_content(std::uint64_t unit) const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t units() const noexcept = 0;
  /// Units that this node has asked for and not got yet.
  [[nodiscard]] virtual std::uint64_t outstanding() const noexcept = 0;
};

}  // namespace quire::model
