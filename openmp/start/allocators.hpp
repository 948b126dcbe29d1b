// SPDX-License-Identifier: BSD-3-Clause
// Other allocators that the program comes with. Quire's malloc(3) takes the place of theirs; what they take for
// themselves is of the node.
#pragma once

namespace quire::openmp {

/// The executable's own malloc(3) comes before Quire's, and is libc's and Quire's, too. One node goes on with it, if it
/// is all of the four functions: else ends the node.
void refuse_half_of_malloc() noexcept;
[[nodiscard]] bool has_own_malloc() noexcept;
/// The same where there are several nodes, which cannot share its memory. After the job's start.
void refuse_own_malloc() noexcept;
/// Memory that the program takes by other calls of an allocator would be of one node: ends the node. Notes where
/// allocators have their code.
void look_at_allocators() noexcept;
/// Whether an allocator's code has made a call.
[[nodiscard]] bool is_of_allocator(const void* caller) noexcept;

}  // namespace quire::openmp
