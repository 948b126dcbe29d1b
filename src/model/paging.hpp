// SPDX-License-Identifier: BSD-3-Clause
// Page-out (KOAN), as far as a protocol decides it: a node that is short of memory gives up frames. A part of a machine
// (machine.hpp): the rules of calls are its own.
#pragma once

#include <cstdint>

#include "model/action.hpp"
#include "model/left_out.hpp"

namespace quire::model {

/// What the frame of a unit is needed for on this node (page-out).
enum class frame_use : std::uint8_t {
  none,    ///< the content means nothing here: the frame may go, and nobody needs to know
  copy,    ///< a clean copy of what another node has: may be given up by on_drop_copy
  needed,  ///< the content is this node's to keep: elsewhere, if not in memory (after on_unmap)
  busy,    ///< not now
};

class paging {
 public:
  [[nodiscard]] virtual frame_use use_of_frame(std::uint64_t) const noexcept { return frame_use::busy; }
  /// Gives up a unit whose frame is a `copy`. Afterwards the frame is needed for nothing.
  virtual void on_drop_copy(std::uint64_t, actions&) { left_out(); }
  /// The content of a unit whose frame is `needed` leaves memory: threads that touch it are to fault. Rights stay.
  virtual void on_unmap(std::uint64_t, actions&) { left_out(); }
  /// Asks for `unit`, so that this node has its content instead of one that is short of memory. True if asked.
  virtual bool on_please_take(std::uint64_t, actions&) { return false; }

 protected:
  paging() = default;
  ~paging() = default;
};

}  // namespace quire::model
