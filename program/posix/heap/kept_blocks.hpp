// SPDX-License-Identifier: BSD-3-Clause
// Mappings that the program has just unmapped as a whole. Each node keeps those that its threads have unmapped for a
// while: the program may map at the same address again (MAP_FIXED), and until then nothing that Quire or a library
// allocates may lie there, as on one machine, where malloc(3) has other addresses. Who maps over one clears
// page_mark::unmapped, and then looks at page_mark::begins; who gives it back clears that, and then looks at the other.
#pragma once

#include <cstddef>

namespace quire::program {

/// All of its pages have page_mark::unmapped. Older ones are given back to the heap where there are too many, or they
/// are too large.
void keep_block(void* first, std::size_t bytes) noexcept;
/// Before a mapping is made that is too large to have two of its kind: a kept one of that size, with whatever content.
/// Null: none; those that are as large are given back then.
[[nodiscard]] void* take_kept(std::size_t bytes, std::size_t alignment) noexcept;
/// There is no memory: all are given back. False: there were none.
[[nodiscard]] bool give_kept_back() noexcept;

}  // namespace quire::program
