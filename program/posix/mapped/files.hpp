// SPDX-License-Identifier: BSD-3-Clause
// Files that the program maps by mmap(2), on all nodes: each is a container (quire/container.h), whose content node 0
// reads when a page is first used anywhere. All shared mappings of a file are one, at one address; each private mapping
// has its own. Node 0 keeps the books; the calls here go there. Errors are as of the call of that name.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "program/posix/heap/shared_pages.hpp"
#include "program/posix/memory/mapped_range.hpp"

namespace quire::program::mapped {

/// Collective, when files are open.
void open_mapped_files() noexcept;
/// Any node, before the program ends, in whatever way: what was written to shared mappings is in the files.
void write_mapped_files() noexcept;

/// How much of whole pages is mapped from files.
[[nodiscard]] part mapped_part(const void* at, std::size_t bytes) noexcept;

struct request {
  std::size_t bytes;
  int protection, flags, file;
  off64_t offset;
};
enum class kind : std::uint8_t {
  done,    ///< the mapping is made, or has failed
  copied,  ///< a private one that should rather be memory with a copy of the content (copy_content())
  zeroes,  ///< of /dev/zero: memory as any
  own,     ///< other processes may have it too, or it is no file: the system's, on one node
};
struct answer {
  void* at;
  kind how;
};
/// mmap(2) where the system chooses the address.
[[nodiscard]] answer map(const request& wanted) noexcept;
/// For a mapping of kind::copied: to shared memory. 0, or -1 and errno.
[[nodiscard]] int copy_content(const request& wanted, void* to) noexcept;
/// The calls of these names, for whole pages all of which are mapped files' (mapped_part()).
[[nodiscard]] int unmap(void* at, std::size_t bytes) noexcept;
[[nodiscard]] int sync(void* at, std::size_t bytes, int flags) noexcept;
/// madvise(MADV_DONTNEED): a private mapping has the content of the file again.
[[nodiscard]] int restore(void* at, std::size_t bytes) noexcept;
/// mprotect(2): from now on the program may write there.
void allow_writing(void* at, std::size_t bytes) noexcept;
/// mremap(2) that leaves the address to the system.
[[nodiscard]] void* resize(void* at, std::size_t bytes, std::size_t wanted, bool may_move) noexcept;

/// Node 0: some shared mapping is there.
[[nodiscard]] bool is_any_shared() noexcept;
/// Node 0: before the program reads or writes a file by its descriptor: what shared mappings have written is in it.
/// Whether it is mapped so.
[[nodiscard]] bool settle(int file) noexcept;
/// And after it has written: mappings read it anew.
void read_anew(int file) noexcept;

}  // namespace quire::program::mapped
