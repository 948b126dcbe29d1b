// SPDX-License-Identifier: BSD-3-Clause
// Large blocks of the heap under `mixed` memory (process/memory_mode.hpp): a region that is a heap, with release
// consistency. Who touches a page first gets its home. Blocks have pages of their own.
#pragma once

#include <cstddef>

namespace quire::openmp {

/// Collective, after choose_memory(). Makes the heap if memory is mixed.
void open_release_heap();
/// Whether a block of so many bytes is to have release consistency.
[[nodiscard]] bool is_large(std::size_t bytes) noexcept;
/// Null, if there is no room, or no such heap: then other memory serves as well.
[[nodiscard]] void* allocate_large(std::size_t bytes, std::size_t alignment, bool zero) noexcept;
/// In any context.
[[nodiscard]] bool in_release_heap(const void* at) noexcept;

}  // namespace quire::openmp
