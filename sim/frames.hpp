// SPDX-License-Identifier: BSD-3-Clause
// What simulated frames hold when nobody may count on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace quire::sim {

/// Every word of a frame after the node has given it back (page-out). The engine's frame would be zero, and nobody may
/// see that.
inline constexpr std::uint64_t frame_is_gone = 0xdeadf4a3edeadf4au;

[[nodiscard]] inline bool is_gone(std::span<const std::uint64_t> frame) noexcept {
  return std::ranges::all_of(frame, [](std::uint64_t word) { return word == frame_is_gone; });
}

}  // namespace quire::sim
