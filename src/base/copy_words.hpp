// SPDX-License-Identifier: BSD-3-Clause
// Copies of memory that threads write or read meanwhile. memcpy() promises nothing there: glibc's uses `rep movsb`,
// with which AMD's Zen 3 copies by bytes where the destination begins 1 to 63 bytes behind the source (modulo 4096). A
// word arrives as a mixture of several then; it takes 15 times as long, too.
#pragma once

#include <cstddef>

namespace quire::base {

/// Copies `bytes` bytes, which do not overlap. The side that threads write or read meanwhile begins at a multiple of
/// 8: each of its words of 8 bytes is loaded once, or stored once, as a whole; a rest of less than 8 bytes is copied
/// byte by byte. The other side needs no alignment. Thread context: any.
void copy_words(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace quire::base
