// SPDX-License-Identifier: BSD-3-Clause
// Statuses that other processes tell as numbers.
#pragma once

#include <quire/quire.h>

#include <cstdint>

namespace quire::base {

/// QUIRE_SYSTEM for a number that is none.
[[nodiscard]] constexpr quire_status status_of(std::uint64_t number) noexcept {
  return number <= QUIRE_OWNER_DIED ? static_cast<quire_status>(number) : QUIRE_SYSTEM;
}

}  // namespace quire::base
