// SPDX-License-Identifier: BSD-3-Clause
// What the parts of a release node share: the open interval, what the core does for it, and a list of actions to fill.
#pragma once

#include <cstdint>

#include "model/action.hpp"
#include "protocol/contract/domain.hpp"
#include "protocol/release/interval.hpp"
#include "protocol/release/machine.hpp"

namespace quire::release {

struct node_counters {
  std::uint64_t releases = 0;      ///< intervals that ended
  std::uint64_t acquires = 0;      ///< that had something to invalidate
  std::uint64_t notices_sent = 0;  ///< runs of units
  std::uint64_t notices_heard = 0;
  std::uint64_t early_diffs = 0;  ///< sent before the release, for want of twins
  std::uint64_t told_early = 0;   ///< messages that left while diffs were on their way to their receivers
  std::uint64_t kept_back = 0;    ///< messages that came while diffs of their senders were passed on
};

struct node_state {
  node_id self{};
  protocol::domain::effects& effects;
  interval open{};
  node_counters count{};
  actions step{};  ///< of one unit; for whoever needs it next

  [[nodiscard]] machine* machine_of(model::region_id region) noexcept { return in_charge(effects.machine_of(region)); }
};

}  // namespace quire::release
