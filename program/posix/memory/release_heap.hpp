// SPDX-License-Identifier: BSD-3-Clause
// Large blocks of the heap under `mixed` memory (process/memory_mode.hpp): regions that are heaps, with release
// consistency. Who touches a page first gets its home. Blocks have pages of their own.
//
// An update that meets a block makes its region sequential (process/watch/demotion.hpp). So a block's region follows
// from where the program asks for it, and from its size to a power of two: these classes get the regions in turn, as
// they come on a node. What is counted in, and vectors beside it, have two.
#pragma once

#include <cstddef>

namespace quire::program {

/// Collective, after choose_memory(). Makes the heaps if memory is mixed.
void open_release_heap();
/// Whether a block of so many bytes is to have release consistency.
[[nodiscard]] bool is_large(std::size_t bytes) noexcept;
/// `caller`: where the program asks for it. Null, if there is no room, or no such heap: then other memory serves as
/// well.
[[nodiscard]] void* allocate_large(const void* caller, std::size_t bytes, std::size_t alignment, bool zero) noexcept;
/// In any context.
[[nodiscard]] bool in_release_heap(const void* at) noexcept;

}  // namespace quire::program
