// SPDX-License-Identifier: BSD-3-Clause
// What all nodes know of pages of heaps: a bit a page for each mark, in shared memory. Pages that are not in the heap,
// nor in that of large blocks, have none. Any thread; all that is told of several pages is told page by page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::program {

enum class page_mark : std::uint8_t {
  zero,      ///< closed, and of zeroes
  unmapped,  ///< the program has unmapped it
  begins,    ///< a mapping begins here
  leaves,    ///< with which a mapping begins that may be about to be given back
  stale,     ///< closed, and to be of zeroes when it is opened: what it has is nobody's
};

void set_mark(page_mark which, const void* at, std::size_t bytes) noexcept;
/// Of the pages that have not the other one.
void set_mark_without(page_mark which, page_mark other, const void* at, std::size_t bytes) noexcept;
void clear_mark(page_mark which, const void* at, std::size_t bytes) noexcept;
/// Whether the page had it not, or had it: of several threads one only finds so.
[[nodiscard]] bool add_mark(page_mark which, const void* at) noexcept;
[[nodiscard]] bool take_mark(page_mark which, const void* at) noexcept;
/// False, too, where not all of them are in one heap.
[[nodiscard]] bool are_all(page_mark which, const void* at, std::size_t bytes) noexcept;
[[nodiscard]] bool have_all_either(page_mark one, page_mark other, const void* at, std::size_t bytes) noexcept;
[[nodiscard]] std::size_t count_marks(page_mark which, const void* at, std::size_t bytes) noexcept;

}  // namespace quire::program
