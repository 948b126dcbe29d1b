// SPDX-License-Identifier: BSD-3-Clause
// Calls about ranges of memory, by threads of the application: touched, advised about, looked at or asked for before
// threads fault in them. What of a range belongs to no region is left out.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "model/ids.hpp"

namespace quire::core {

class core;

/// The calling thread wants `want` of all units of a range; returns when it had them all at some moment.
/// QUIRE_UNSUPPORTED: memory that only stores of transactions write; QUIRE_CONFLICT: the thread's transaction is
/// doomed.
base::status touch_range(core& node, std::uint64_t address, std::uint64_t bytes, model::access want) noexcept;
/// Threads of this node are going to write what they read of a range, or no longer.
void advise_range(core& node, std::uint64_t address, std::uint64_t bytes, bool will_write) noexcept;
/// How many bytes from `address` on, of `bytes`, threads of this node may `want` now without a fault; 0 may also mean
/// that only a fault tells.
[[nodiscard]] std::uint64_t usable_bytes(core& node, std::uint64_t address, std::uint64_t bytes,
                                         model::access want) noexcept;
/// Starts to bring a range here, and lets threads use what is here.
void prefetch_range(core& node, std::uint64_t address, std::uint64_t bytes, model::access want) noexcept;

}  // namespace quire::core
