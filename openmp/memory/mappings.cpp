// SPDX-License-Identifier: BSD-3-Clause
// Anonymous memory that the program maps is shared, as what it allocates is: by mmap(2) and its like, for calls of the
// program that leave the address to the system, and ask for memory to read and write. Other mappings are of the node
// that makes them.
#include <errno.h>
#include <quire/quire.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>

#include "openmp/files/where.hpp"
#include "openmp/libc/interpose.hpp"
#include "openmp/memory/heap.hpp"

using namespace quire::openmp;

namespace {

constexpr std::size_t mapped_page = 4096;
std::size_t whole(std::size_t bytes) noexcept { return (bytes + mapped_page - 1) / mapped_page * mapped_page; }

bool is_for_all(std::size_t bytes, int protection, int flags) noexcept {
  constexpr int elsewhere = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_GROWSDOWN | MAP_HUGETLB | MAP_32BIT;
  return bytes != 0 && protection == (PROT_READ | PROT_WRITE) && (flags & MAP_ANONYMOUS) != 0 &&
         (flags & elsewhere) == 0;
}

/// Quire itself calls for what it shares.
bool is_ours(const void* at, const void* caller) noexcept { return in_heap(at) && from_program(caller); }

void* map_shared(std::size_t bytes) noexcept {
  void* const at = allocate_shared(whole(bytes), mapped_page, true);
  return at != nullptr ? at : MAP_FAILED;
}

/// Gives back what was mapped as one. Parts of it keep their memory, and are zero: whoever maps them next finds them
/// so.
void unmap_shared(void* at, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (quire_allocation_size(at, &all) == QUIRE_OK && whole(bytes) + mapped_page > all) {
    (void)quire_free(at);
    return;
  }
  memset(at, 0, whole(bytes));
}

/// A file is mapped on its own node, whose memory it is.
void* map_file(void* at, std::size_t bytes, int protection, int flags, int file, off64_t offset,
               const void* caller) noexcept {
  if ((flags & MAP_ANONYMOUS) == 0 && node_of(file, caller) != here) {
    refuse("mmap() of a file");
    return MAP_FAILED;
  }
  return QUIRE_NEXT(mmap)(at, bytes, protection, flags, file, offset);
}

}  // namespace

QUIRE_LIBC void* mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  if (is_for_all(bytes, protection, flags) && for_program(QUIRE_CALLER)) return map_shared(bytes);
  return map_file(at, bytes, protection, flags, file, offset, QUIRE_CALLER);
}
QUIRE_LIBC void* mmap64(void* at, std::size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
  if (is_for_all(bytes, protection, flags) && for_program(QUIRE_CALLER)) return map_shared(bytes);
  return map_file(at, bytes, protection, flags, file, offset, QUIRE_CALLER);
}

QUIRE_LIBC int munmap(void* at, std::size_t bytes) noexcept {
  if (!is_ours(at, QUIRE_CALLER)) return QUIRE_NEXT(munmap)(at, bytes);
  if (reinterpret_cast<std::uintptr_t>(at) % mapped_page != 0 || bytes == 0) return errno = EINVAL, -1;
  unmap_shared(at, bytes);
  return 0;
}

QUIRE_LIBC void* mremap(void* at, std::size_t bytes, std::size_t wanted, int flags, ...) noexcept {
  va_list more;
  va_start(more, flags);
  void* const to = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  if (!is_ours(at, QUIRE_CALLER)) return QUIRE_NEXT(mremap)(at, bytes, wanted, flags, to);
  if ((flags & MREMAP_FIXED) != 0 || bytes == 0 || wanted == 0) return errno = EINVAL, MAP_FAILED;
  if (whole(wanted) <= whole(bytes)) return at;
  if ((flags & MREMAP_MAYMOVE) == 0) return errno = ENOMEM, MAP_FAILED;
  void* const moved = map_shared(wanted);
  if (moved == MAP_FAILED) return moved;
  memcpy(moved, at, bytes);
  unmap_shared(at, bytes);
  return moved;
}

/// Shared memory has its protection from who uses it when.
QUIRE_LIBC int mprotect(void* at, std::size_t bytes, int protection) noexcept {
  if (!is_ours(at, QUIRE_CALLER)) return QUIRE_NEXT(mprotect)(at, bytes, protection);
  if (protection == (PROT_READ | PROT_WRITE)) return 0;
  std::fprintf(stderr,
               "quire: OpenMP: mprotect(%p) is refused: the memory is shared by all nodes, which read and write it\n",
               at);
  return errno = ENOTSUP, -1;
}

QUIRE_LIBC int madvise(void* at, std::size_t bytes, int advice) noexcept {
  if (!is_ours(at, QUIRE_CALLER)) return QUIRE_NEXT(madvise)(at, bytes, advice);
  if (advice == MADV_DONTNEED) memset(at, 0, whole(bytes));
  return 0;
}
