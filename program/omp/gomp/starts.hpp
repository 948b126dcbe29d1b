// SPDX-License-Identifier: BSD-3-Clause
// What some loops of gcc's bring beside their bounds.
#pragma once

#include <cstdint>

#include "program/omp/gomp/loops.hpp"

namespace quire::program::gomp {

/// Reductions of tasks, and memory that the team shares, of which `*memory` is the size at first; either may be null.
void begin_extras(std::uintptr_t* reductions, void** memory) noexcept;

struct kind {
  schedule how;
  std::uint64_t chunk;
};
/// The number of a schedule.
[[nodiscard]] kind kind_of(long number, long chunk) noexcept;

}  // namespace quire::program::gomp
