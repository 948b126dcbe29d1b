// SPDX-License-Identifier: BSD-3-Clause
// What all nodes know of pages of the heap: a bit a page for each mark, in shared memory. Pages that are not in the
// heap have none. Any thread; all that is told of several pages is told page by page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::openmp {

enum class page_mark : std::uint8_t {
  zero,      ///< closed, and of zeroes
  unmapped,  ///< closed, as the program has unmapped it
  begins,    ///< a mapping begins here
};

void set_mark(page_mark which, const void* at, std::size_t bytes) noexcept;
void clear_mark(page_mark which, const void* at, std::size_t bytes) noexcept;
/// False, too, where not all of them are in the heap.
[[nodiscard]] bool are_all(page_mark which, const void* at, std::size_t bytes) noexcept;
[[nodiscard]] std::size_t count_marks(page_mark which, const void* at, std::size_t bytes) noexcept;

}  // namespace quire::openmp
