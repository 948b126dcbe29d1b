// SPDX-License-Identifier: BSD-3-Clause
// Memory that the threads of a team share for one worksharing construct: who comes first makes it.
#pragma once

#include <cstddef>

namespace quire::program {

/// Zeros, in shared memory, for the construct that the caller begins; all threads of the team come here with the same
/// size, in the same order. `first`: the caller is the first one, and fills it in: others wait until
/// common_memory_ready(). It goes some constructs later.
[[nodiscard]] void* begin_common_memory(std::size_t bytes, bool& first) noexcept;
void common_memory_ready(void* memory) noexcept;
/// The region has ended.
void clear_kept_memory() noexcept;

}  // namespace quire::program
