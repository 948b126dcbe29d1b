// SPDX-License-Identifier: BSD-3-Clause
// The region's protocol changes: what one machine knew of units, the next one goes on from. No message about any of the
// units is on its way, nothing is pinned. A part of a machine (machine.hpp): the rules of calls are its own.
#pragma once

#include <cstdint>

#include "model/action.hpp"
#include "model/handover.hpp"
#include "model/left_out.hpp"

namespace quire::model {

class succession {
 public:
  /// Units stay with the nodes that keep them, or may move again.
  virtual void stay(bool) noexcept {}
  /// Gives up what is known of `unit`, as if it had never been used.
  [[nodiscard]] virtual handover give(std::uint64_t, actions&) { left_out(); }
  /// Goes on from what another protocol knew.
  virtual void take(std::uint64_t, const handover&, actions&) { left_out(); }
  virtual void all_given() noexcept { left_out(); }

 protected:
  succession() = default;
  ~succession() = default;
};

}  // namespace quire::model
