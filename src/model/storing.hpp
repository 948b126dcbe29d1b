// SPDX-License-Identifier: BSD-3-Clause
// Units whose content a store keeps beyond memory (a file), as far as a protocol decides it: where the store has
// something older, and when a unit may be written to it. The node that reads and writes the store is the unit's
// authority (machine.hpp), and stays it. A part of a machine: the rules of calls are its own. All of this at the
// authority.
#pragma once

#include <cstdint>

#include "model/action.hpp"
#include "model/left_out.hpp"
#include "model/message.hpp"

namespace quire::model {

/// When the store has all that was written before a call of on_flush().
enum class flush_outcome : std::uint8_t {
  clean,      ///< it has
  under_way,  ///< when the flush that is under way ends well
  next,       ///< when the next one does: its action is among the actions, or comes by itself in a later step
};

/// How a unit is to leave the memory of all nodes.
enum class leave : std::uint8_t {
  none,
  // From the weakest on.
  clean,    ///< if the store has what memory has
  discard,  ///< whatever it is: nobody needs it
  trim,     ///< not at all, but this node alone is to have it
};
/// What has come of it.
enum class leave_end : std::uint8_t {
  gone,    ///< nobody has it, and nobody may look at it: its frame may go
  stays,   ///< it is not clean, or in use
  alone,   ///< this node alone has it, and takes it for dirty. So it ends where it was to be trimmed, or discarded and
           ///< is pinned here
  lost,    ///< nobody alive has it: what was flushed and may yet be lost (store::sync()) is not here either
  failed,  ///< its content cannot be had from the store, and it would have been needed
};

class storing {
 public:
  /// The store is to have what threads have written to `unit`.
  [[nodiscard]] virtual flush_outcome on_flush(std::uint64_t, actions&) { left_out(); }
  /// A flush has ended. If not `well`, what the store has of the unit means nothing, and the unit is as it was before.
  virtual void on_flushed(std::uint64_t, bool /*well*/, actions&) { left_out(); }
  /// A message that no machine has seen yet waited for content, and the store does not give it: `error` (errno) is why.
  /// A request is refused; false if it is none, and to be taken as any other.
  [[nodiscard]] virtual bool on_unfilled(const message&, int /*error*/, actions&) { left_out(); }
  /// What the store has taken of the unit may be lost, or not have been kept: it is to be written again.
  virtual void on_unsynced(std::uint64_t) { left_out(); }
  /// The unit is to leave memory. An action `leave` is among the actions, or comes by itself in a later step, and says
  /// how that has ended. Of several for a unit the strongest counts, for all.
  virtual void on_leave(std::uint64_t, leave, actions&) { left_out(); }
  /// The store has the content of the unit, as far as all nodes can know: nobody may write it, and no flush is under
  /// way.
  [[nodiscard]] virtual bool is_clean(std::uint64_t) const noexcept { return false; }

 protected:
  storing() = default;
  ~storing() = default;
};

}  // namespace quire::model
