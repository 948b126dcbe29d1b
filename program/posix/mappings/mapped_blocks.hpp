// SPDX-License-Identifier: BSD-3-Clause
// Mappings that the program has made in shared memory: each is a block of the heap of its own. Parts of it that the
// program unmaps are closed, until it maps over them; the block is given back with its last part. Addresses that are
// no block's are free for the program to map there (MAP_FIXED), as on one machine.
#pragma once

#include <cstddef>

namespace quire::program {

// Whole pages, which are shared.

/// A block of the heap is a mapping of the program.
void note_mapping(const void* at) noexcept;
/// munmap(2), of whatever lies there: mappings and parts of them, blocks of malloc's, stacks, static data. What is free
/// stays so. False, and errno.
[[nodiscard]] bool unmap_pages(void* at, std::size_t bytes) noexcept;
/// The program maps over pages: they are of zeroes, and closed or open. Those that are free become a mapping. False,
/// and errno: ENOTSUP, as of close_pages().
[[nodiscard]] bool map_pages_over(void* at, std::size_t bytes, bool closed) noexcept;
[[nodiscard]] bool are_all_free(void* at, std::size_t bytes) noexcept;
/// Some are no block's, or a mapping's that was unmapped as a whole: others may get them at any time.
[[nodiscard]] bool is_any_free(void* at, std::size_t bytes) noexcept;

}  // namespace quire::program
