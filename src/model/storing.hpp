// SPDX-License-Identifier: BSD-3-Clause
// Units whose content a store keeps beyond memory (a file), as far as a protocol decides it: where the store has something older, and when a unit may be
// written to it. The node that reads and writes the store is the unit's authority (machine.hpp), and stays it. A part of a machine: the rules of calls
// are its own. All of this at the authority.
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

class storing {
 public:
  /// The store is to have what threads have written to `unit`.
  [[nodiscard]] virtual flush_outcome on_flush(std::uint64_t, actions&) { left_out(); }
  /// A flush has ended. If not `well`, what the store has of the unit means nothing, and the unit is as it was before.
  virtual void on_flushed(std::uint64_t, bool /*well*/, actions&) { left_out(); }
  /// A message that no machine has seen yet waited for content, and the store does not give it: `error` (errno) is why. A request is refused; false if
  /// it is none, and to be taken as any other.
  [[nodiscard]] virtual bool on_unfilled(const message&, int /*error*/, actions&) { left_out(); }
  /// The store has the content of the unit, as far as all nodes can know: nobody may write it, and no flush is under way.
  [[nodiscard]] virtual bool is_clean(std::uint64_t) const noexcept { return false; }

 protected:
  storing() = default;
  ~storing() = default;
};

}  // namespace quire::model
