// SPDX-License-Identifier: BSD-3-Clause
// Units that are brought before a thread asks for them: whether the first of so many is used tells of all of them. A
// fault a unit, to see that, would cost as much as what it saves.
#pragma once

#include <cstdint>

namespace quire::model {

inline constexpr std::uint64_t neighbours = 8;

/// The one of them that is looked at.
[[nodiscard]] constexpr std::uint64_t first_neighbour(std::uint64_t unit) noexcept {
  return unit / neighbours * neighbours;
}

}  // namespace quire::model
