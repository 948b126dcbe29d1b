// SPDX-License-Identifier: BSD-3-Clause
// The content of a mapped file, for the container that all nodes have of it: an I/O linker (quire/linker.h) of node 0,
// where the program's files are open. Of a shared mapping it is the file; of a private one, the file and what the
// program has written instead, which goes to a file without a name where memory is short.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace quire::program::mapped {

/// What a container is made of. Lives longer than that.
struct source {
  int file = -1;                        ///< a descriptor of Quire's own
  std::uint64_t offset = 0, bytes = 0;  ///< of the file, and of the container, whole pages
  bool is_shared = false;
  bool is_over = false;              ///< nobody will read it again: nothing private is kept
  int instead = -1;                  ///< the file without a name
  std::uint64_t* written = nullptr;  ///< a bit a page, which has it
};

inline constexpr const char* linker_name = "mapped by program";
/// Node 0, once: `sources` are told by number in quire_container_options::what.
[[nodiscard]] bool register_linker(source* sources, std::uint32_t count) noexcept;
/// As it is in the file now. Pages that begin behind its end: EIO. 0 or errno.
[[nodiscard]] int read_file(const source& s, std::uint64_t at, void* into, std::size_t bytes) noexcept;

}  // namespace quire::program::mapped
