// SPDX-License-Identifier: BSD-3-Clause
// Page locking (KOAN: acquire and release), as far as a protocol decides it: which node has a unit pinned, and who
// waits for it. A part of a machine (machine.hpp): the rules of calls are its own.
#pragma once

#include <cstdint>

#include "model/action.hpp"
#include "model/fault_outcome.hpp"
#include "model/left_out.hpp"
#include "model/message.hpp"

namespace quire::model {

class page_locking {
 public:
  /// A thread wants `unit` pinned. Counts even if it must wait: `local` says that it is pinned now. Else the thread
  /// waits for `wake` and asks on_pin_again().
  virtual fault_outcome on_pin(std::uint64_t, actions&) { left_out(); }
  virtual fault_outcome on_pin_again(std::uint64_t, actions&) { left_out(); }
  /// A thread ends its pin. False if no thread of this node has pinned the unit; then nothing changes.
  [[nodiscard]] virtual bool on_unpin(std::uint64_t, actions&) { left_out(); }
  /// A thread that waits for a pin waits no longer. The pin may still come.
  virtual void on_pin_given_up(std::uint64_t, actions&) { left_out(); }
  /// Ends all pins of `unit` at once: the node leaves.
  virtual void on_pins_dropped(std::uint64_t, actions&) { left_out(); }
  [[nodiscard]] virtual bool is_pinned(std::uint64_t) const noexcept { return false; }
  /// At the unit's authority: the node that has `unit`, and would have to give it to the next who asks.
  [[nodiscard]] virtual node_id holder_of(std::uint64_t) const noexcept { left_out(); }
  /// Whether content that comes with a pin may be placed.
  [[nodiscard]] virtual bool awaits_grant(std::uint64_t) const noexcept { return false; }

 protected:
  page_locking() = default;
  ~page_locking() = default;
};

}  // namespace quire::model
