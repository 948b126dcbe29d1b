// SPDX-License-Identifier: BSD-3-Clause
// mprotect(2), madvise(2) and their like on shared memory: what they change, they change for all nodes. Protection is
// all or nothing, as Quire itself takes and gives the right to write.
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include "program/posix/heap/heap.hpp"
#include "program/posix/heap/shared_pages.hpp"
#include "program/posix/mapped/files.hpp"
#include "program/posix/mappings/mapped_blocks.hpp"
#include "program/posix/mappings/mapping_calls.hpp"
#include "program/posix/memory/stacks.hpp"
#include "program/process/interpose.hpp"
#include "program/process/next_mapping.hpp"

using namespace quire::program;

// Later than the headers of some systems.
#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

namespace {

constexpr const char* closing_advice = "pages of this memory cannot be closed: leave it open";

int refused(const char* call, const void* at, const char* advice) noexcept {
  refuse_mapping(call, at, advice);
  return -1;
}

int protect_shared(const char* call, void* at, std::size_t bytes, int protection, part shared) noexcept {
  if (!begins_page(at)) return errno = EINVAL, -1;
  if (shared == part::some) return refused(call, at, whole_advice);
  // Who compiles writes, and then takes the right to write away: that stays.
  if ((protection & (PROT_READ | PROT_EXEC)) != 0 && compiles_in_memory())
    return open_pages(at, whole_pages(bytes)) ? 0 : -1;
  if ((protection & PROT_EXEC) != 0)
    return refused(
        call, at,
        "the memory is shared by all nodes, which cannot run what is in it: map code with PROT_EXEC from the "
        "start, on each node that runs it");
  if (protection == PROT_NONE && is_any_free(at, whole_pages(bytes))) return errno = ENOMEM, -1;
  if (protection == PROT_NONE) return close_pages(at, whole_pages(bytes)) ? 0 : refused(call, at, closing_advice);
  if ((protection & PROT_WRITE) == 0)
    return refused(call, at, "the memory is shared by all nodes, which read and write it: leave it open to writing");
  if (mapped::may_have(at)) mapped::allow_writing(at, bytes);
  return open_pages(at, whole_pages(bytes)) ? 0 : -1;
}

/// False: as of other shared memory.
bool advise_file(void* at, std::size_t bytes, int advice, int& result) noexcept {
  constexpr int emptying[] = {MADV_REMOVE, MADV_GUARD_INSTALL};
  const bool drops = advice == MADV_DONTNEED || advice == MADV_DONTNEED_LOCKED;
  if (!drops && std::find(std::begin(emptying), std::end(emptying), advice) == std::end(emptying)) return false;
  if (mapped::mapped_part(at, bytes) == part::none) return false;
  result = drops ? mapped::restore(at, bytes) : refused("madvise()", at, "a file is mapped there: leave it as it is");
  return true;
}

int advise_shared(void* at, std::size_t bytes, int advice, part shared) noexcept {
  constexpr const char* call = "madvise()";
  if (!begins_page(at)) return errno = EINVAL, -1;
  if (shared == part::some) return refused(call, at, whole_advice);
  const std::size_t all = whole_pages(bytes);
  if (int result = 0; mapped::may_have(at) && advise_file(at, all, advice, result)) return result;
  switch (advice) {
    case MADV_DONTNEED:
    case MADV_DONTNEED_LOCKED:
    case MADV_REMOVE:
      return clear_open_pages(at, all) ? 0 : -1;
    case MADV_GUARD_INSTALL:
      if (is_any_free(at, all)) return errno = ENOMEM, -1;
      return empty_pages(at, all) ? 0 : refused("madvise(MADV_GUARD_INSTALL)", at, closing_advice);
    case MADV_GUARD_REMOVE:
      return open_pages(at, all) ? 0 : -1;
    case MADV_NORMAL:  // what follows changes how fast the kernel is, or what children of fork(2) find, who are none
    case MADV_RANDOM:
    case MADV_SEQUENTIAL:
    case MADV_WILLNEED:
    case MADV_FREE:
    case MADV_DONTFORK:
    case MADV_DOFORK:
    case MADV_MERGEABLE:
    case MADV_UNMERGEABLE:
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
    case MADV_DONTDUMP:
    case MADV_DODUMP:
    case MADV_WIPEONFORK:
    case MADV_KEEPONFORK:
    case MADV_COLD:
    case MADV_PAGEOUT:
    case MADV_POPULATE_READ:
    case MADV_POPULATE_WRITE:
    case MADV_COLLAPSE:
      return 0;
    case MADV_HWPOISON:
    case MADV_SOFT_OFFLINE:
      return refused(call, at, "the memory is shared by all nodes: try errors of memory without Quire");
    default:
      return errno = EINVAL, -1;
  }
}

constexpr long strict_policy = 1;  // MPOL_MF_STRICT
constexpr const char* lock_advice =
    "memory that nodes share moves between them, and is not locked: go on without, or give the job more memory";

}  // namespace

namespace quire::program {

int protect_memory(void* at, std::size_t bytes, int protection, const void* caller) noexcept {
  const part shared = shared_part(at, bytes, caller);
  if (shared == part::none) return map_next([=] { return QUIRE_NEXT(mprotect)(at, bytes, protection); });
  return protect_shared("mprotect()", at, bytes, protection, shared);
}

int advise_memory(void* at, std::size_t bytes, int advice, const void* caller) noexcept {
  const part shared = shared_part(at, bytes, caller);
  if (shared == part::none) return map_next([=] { return QUIRE_NEXT(madvise)(at, bytes, advice); });
  return advise_shared(at, bytes, advice, shared);
}

bool make_mapping_call(long number, const long (&a)[6], const void* caller, long& result) noexcept {
  if (t_maps_next) return false;
  auto* const at = reinterpret_cast<void*>(a[0]);
  const auto bytes = static_cast<std::size_t>(a[1]);
  const auto third = static_cast<int>(a[2]), flags = static_cast<int>(a[3]);
  switch (number) {
    case SYS_mmap:
      result = reinterpret_cast<long>(map_memory(at, bytes, third, flags, static_cast<int>(a[4]), a[5], caller));
      return true;
    case SYS_munmap:
      result = unmap_memory(at, bytes, caller);
      return true;
    case SYS_mremap:
      result = reinterpret_cast<long>(move_memory(at, bytes, static_cast<std::size_t>(a[2]), flags,
                                                  (flags & MREMAP_FIXED) != 0 ? reinterpret_cast<void*>(a[4]) : nullptr,
                                                  caller));
      return true;
    case SYS_mprotect:
      result = protect_memory(at, bytes, third, caller);
      return true;
    case SYS_madvise:
      result = advise_memory(at, bytes, third, caller);
      return true;
    case SYS_mlock:
    case SYS_mlock2:
    case SYS_munlock:
      if (shared_part(at, bytes, caller) == part::none) return false;
      result = refused("mlock()", at, lock_advice);
      return true;
    case SYS_mbind:  // changes how fast a machine is, but where it is strict
      if (shared_part(at, bytes, caller) == part::none) return false;
      result = (a[5] & strict_policy) == 0
                   ? 0
                   : refused("mbind()", at, "memory that nodes share moves between them: leave its place to Quire");
      return true;
    default:
      return false;
  }
}

}  // namespace quire::program

QUIRE_LIBC int mprotect(void* at, std::size_t bytes, int protection) noexcept {
  return protect_memory(at, bytes, protection, QUIRE_CALLER);
}
QUIRE_LIBC int pkey_mprotect(void* at, std::size_t bytes, int protection, int key) noexcept {
  const part shared = shared_part(at, bytes, QUIRE_CALLER);
  if (shared == part::none) return QUIRE_NEXT(pkey_mprotect)(at, bytes, protection, key);
  if (key != -1) return refused("pkey_mprotect()", at, "shared memory has no keys: use mprotect()");
  return protect_shared("pkey_mprotect()", at, bytes, protection, shared);
}

QUIRE_LIBC int madvise(void* at, std::size_t bytes, int advice) noexcept {
  return advise_memory(at, bytes, advice, QUIRE_CALLER);
}
QUIRE_LIBC int posix_madvise(void* at, std::size_t bytes, int advice) noexcept {
  if (shared_part(at, bytes, QUIRE_CALLER) == part::none) return QUIRE_NEXT(posix_madvise)(at, bytes, advice);
  return begins_page(at) && advice >= POSIX_MADV_NORMAL && advice <= POSIX_MADV_DONTNEED ? 0 : EINVAL;
}

/// The kernel would make parts of the mapping that Quire has as one.
#define QUIRE_NOT_SHARED(name, parameters, arguments, advice)                                  \
  QUIRE_LIBC int name parameters noexcept {                                                    \
    if (shared_part(at, bytes, QUIRE_CALLER) == part::none) return QUIRE_NEXT(name) arguments; \
    return refused(#name "()", at, advice);                                                    \
  }
QUIRE_NOT_SHARED(mlock, (const void* at, std::size_t bytes), (at, bytes), lock_advice)
QUIRE_NOT_SHARED(mlock2, (const void* at, std::size_t bytes, unsigned flags), (at, bytes, flags), lock_advice)
QUIRE_NOT_SHARED(munlock, (const void* at, std::size_t bytes), (at, bytes), lock_advice)
QUIRE_NOT_SHARED(remap_file_pages, (void* at, std::size_t bytes, int protection, std::size_t page, int flags),
                 (at, bytes, protection, page, flags), "shared memory is no file: copy the content")

QUIRE_LIBC int mlockall(int flags) noexcept {
  if (!from_program(QUIRE_CALLER)) return QUIRE_NEXT(mlockall)(flags);
  return refused("mlockall()", nullptr, lock_advice);
}
