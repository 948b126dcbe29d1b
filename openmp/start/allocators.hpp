// SPDX-License-Identifier: BSD-3-Clause
// Other allocators that the program comes with. Quire's malloc(3) takes the place of theirs; what they take for
// themselves is of the node.
#pragma once

namespace quire::openmp {

/// The executable's own malloc(3) would come before Quire's, and be libc's and Quire's, too: ends the node.
void refuse_own_malloc() noexcept;
/// Memory that the program takes by other calls of an allocator would be of one node: ends the node. Notes where
/// allocators have their code.
void look_at_allocators() noexcept;
/// Whether an allocator's code has made a call.
[[nodiscard]] bool is_of_allocator(const void* caller) noexcept;

}  // namespace quire::openmp
