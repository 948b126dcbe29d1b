// SPDX-License-Identifier: BSD-3-Clause
// Counters of a node.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/region_slot.hpp"
#include "protocol/release/state.hpp"
#include "protocol/sequential/state.hpp"

namespace quire::core {

/// Counters that are not a machine's.
struct engine_counters {
  std::atomic<std::uint64_t> fault_ns{0}, barrier_ns{0}, lock_ns{0}, barriers{0}, locks{0};
  std::atomic<std::uint64_t> line_units{0}, write_ahead_units{0};
  std::atomic<std::uint64_t> refused{0};  ///< messages whose content makes no sense here
};

/// What machines of regions have counted that have gone.
struct gone_counters {
  sequential::counters sequential{};
  release::counters release{};
  /// The region goes. Driver's thread.
  void add(const region_slot& r) noexcept;
};

/// Sums over regions, those that have gone too. Driver's thread.
[[nodiscard]] sequential::counters sequential_counters(const region_map& regions, const gone_counters& gone) noexcept;
[[nodiscard]] release::counters release_counters(const region_map& regions, const gone_counters& gone) noexcept;

}  // namespace quire::core
