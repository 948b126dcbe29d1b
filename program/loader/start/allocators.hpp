// SPDX-License-Identifier: BSD-3-Clause
// Other allocators that the program comes with. Quire's malloc(3) takes the place of theirs; what they take for
// themselves is of the node.
#pragma once

namespace quire::program {

/// Before the environment is the program's again.
void note_own_malloc() noexcept;
/// The executable's own malloc(3) comes before Quire's, and is libc's and Quire's, too, whose threads must not call it
/// once its memory is shared. After the job's start, before that: on one node the job ends, and the process becomes the
/// program once more, without Quire; else ends the node.
void leave_own_malloc_alone(char** arguments) noexcept;
/// Memory that the program takes by other calls of an allocator would be of one node: ends the node. Notes where
/// allocators have their code.
void look_at_allocators() noexcept;

}  // namespace quire::program
