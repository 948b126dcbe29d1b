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
  std::atomic<std::uint64_t> refused{0};  ///< messages whose content makes no sense here
};

/// Sums over regions.
[[nodiscard]] sequential::counters sequential_counters(const region_map& regions) noexcept;
[[nodiscard]] release::counters release_counters(const region_map& regions) noexcept;

}  // namespace quire::core
