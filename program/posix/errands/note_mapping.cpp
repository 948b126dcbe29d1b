// SPDX-License-Identifier: BSD-3-Clause
// Private memory at an address that the program has chosen: which node has it is told to the others, for the line about
// an access that finds none there.
#include "program/posix/errands/note_mapping.hpp"

#include "program/posix/errands/on_all_nodes.hpp"
#include "program/posix/memory/own_addresses.hpp"
#include "program/posix/memory/private_notes.hpp"

namespace quire::program {

void note_private_mapping(std::uint64_t first, std::uint64_t bytes) noexcept {
  const private_mapping mine{first, bytes, job().node};
  if (!files::apart || !files::is_node() || bytes == 0 || node_of_private(first) == mine.node || needs_no_note(mine))
    return;
  const int saved = errno;
  for (int node = 0; node < job().nodes; ++node) (void)call_with_texts(node, [mine] { return keep_note(mine), 0; });
  errno = saved;
}

}  // namespace quire::program
