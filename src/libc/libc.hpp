// SPDX-License-Identifier: BSD-3-Clause
// Calls of libc that programs make on shared memory. Most of them are in the rows of table.hpp, exported by name.
#pragma once

#include <cstdint>

namespace quire::api::calls {

/// From the start of the job on calls look at this range; those that libc's own callers have bound, too; and handlers
/// of signals are Quire's first. Until hide_range().
void take_over(std::uint64_t base, std::uint64_t bytes) noexcept;

}  // namespace quire::api::calls
