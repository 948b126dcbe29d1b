// SPDX-License-Identifier: BSD-3-Clause
// Anonymous memory that the program maps is shared, as what it allocates is: by mmap(2) and its like, for calls of the
// program that leave the address to the system, and ask for memory to read and write, or for addresses to use later
// (PROT_NONE). A mapping over shared memory is shared, too, and so are files (posix/mapped/files.hpp). Other mappings
// are of the node that makes them.
#include <errno.h>
#include <quire/quire.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "program/posix/errands/note_mapping.hpp"
#include "program/posix/errands/on_all_nodes.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/heap/kept_blocks.hpp"
#include "program/posix/heap/shared_pages.hpp"
#include "program/posix/mapped/files.hpp"
#include "program/posix/mappings/mapped_blocks.hpp"
#include "program/posix/mappings/mapping_calls.hpp"
#include "program/posix/threads/cancellation.hpp"
#include "program/process/interpose.hpp"
#include "program/process/next_mapping.hpp"

using namespace quire::program;

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// The processor has no memory that can be written and not read.
bool is_open(int protection) noexcept { return protection == PROT_WRITE || protection == (PROT_READ | PROT_WRITE); }

/// Neither MAP_PRIVATE nor MAP_SHARED: the system says what is wrong.
bool has_kind(int flags) noexcept {
  const int kind = flags & MAP_TYPE;
  return kind == MAP_PRIVATE || kind == MAP_SHARED || kind == MAP_SHARED_VALIDATE;
}

bool is_for_all(std::size_t bytes, int protection, int flags) noexcept {
  constexpr int elsewhere = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT;
  return bytes != 0 && has_kind(flags) && (is_open(protection) || protection == PROT_NONE) &&
         (flags & MAP_ANONYMOUS) != 0 && (flags & elsewhere) == 0;
}

/// `closed`: addresses that the program will use later. Where there are none, or pages cannot be closed, they are of
/// this node.
void* map_shared(std::size_t bytes, int flags = 0, bool closed = false) noexcept {
  const std::size_t all = whole_pages(bytes), alignment = (flags & MAP_HUGETLB) != 0 ? huge_page : mapped_page;
  void* const kept = take_kept(all, alignment);
  void* at = kept;
  if (at == nullptr) at = allocate_shared(all, alignment, true);
  if (at == nullptr && give_kept_back()) at = allocate_shared(all, alignment, true);
  if (at == nullptr) return MAP_FAILED;
  note_mapping(at);
  const bool done = closed ? empty_pages(at, all, kept == nullptr) : kept != nullptr ? clear_pages(at, all) : true;
  if (done) return at;
  (void)unmap_pages(at, all);
  return MAP_FAILED;
}

int unmap_shared(void* at, std::size_t bytes) noexcept {
  if (unmap_pages(at, whole_pages(bytes))) return 0;
  refuse_mapping("munmap()", at, "this memory is shared to the end of the job");
  return -1;
}

/// A private mapping of a file that has a copy of its content.
void* map_copy(void* at, const mapped::request& r) noexcept {
  if (at == MAP_FAILED || mapped::copy_content(r, at) == 0) return at;
  const int error = errno;
  (void)unmap_shared(at, r.bytes);
  return errno = error, MAP_FAILED;
}

bool is_copy(int protection, int flags) noexcept {
  return (flags & (MAP_ANONYMOUS | MAP_TYPE)) == MAP_PRIVATE && (protection & (PROT_READ | PROT_EXEC)) == PROT_READ;
}

/// What `advice` says is the only way that leaves the memory shared.
void* map_over(void* at, const mapped::request& r, part shared) noexcept {
  constexpr const char* call = "mmap(MAP_FIXED)";
  const auto [bytes, protection, flags, file, offset] = r;
  const char* advice = nullptr;
  const std::size_t all = whole_pages(bytes);
  if (!begins_page(at) || !has_kind(flags)) return errno = EINVAL, MAP_FAILED;
  if ((flags & MAP_FIXED_NOREPLACE) != 0 && (shared == part::some || !are_all_free(at, all)))
    return errno = EEXIST, MAP_FAILED;
  if (shared == part::some) {
    advice = whole_advice;
  } else if (mapped::mapped_part(at, all) != part::none) {
    advice = "a file is mapped there: unmap it first, and leave the address to the system";
  } else if (is_copy(protection, flags)) {
    return map_pages_over(at, all, false) ? map_copy(at, r) : MAP_FAILED;
  } else if ((flags & MAP_ANONYMOUS) == 0) {
    advice = "the memory is shared by all nodes: map the file at an address of the system's choice, or MAP_PRIVATE";
  } else if (protection != PROT_NONE && !is_open(protection)) {
    advice = "the memory is shared by all nodes, which read and write it: map it with PROT_READ | PROT_WRITE";
  } else if (map_pages_over(at, all, protection == PROT_NONE)) {
    return at;
  } else if (errno != ENOTSUP) {
    return MAP_FAILED;
  } else {
    advice = "pages of this memory cannot be closed: leave it as it is, and write zeroes there";
  }
  refuse_mapping(call, at, advice);
  return MAP_FAILED;
}

bool is_file_for_all(const mapped::request& r, const void* caller) noexcept {
  constexpr int elsewhere = MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT;
  return r.bytes != 0 && has_kind(r.flags) && (r.flags & elsewhere) == 0 &&
         (r.protection & (PROT_READ | PROT_EXEC)) == PROT_READ && is_for_all_nodes(caller);
}

/// Of one node: what is no file, or for other processes, too.
void* map_own(void* at, const mapped::request& r, const void* caller) noexcept {
  if ((r.flags & MAP_ANONYMOUS) == 0 && node_of(r.file, caller) != here) {
    refuse("mmap() of a file");
    return MAP_FAILED;
  }
  return map_next([=] { return QUIRE_NEXT(mmap)(at, r.bytes, r.protection, r.flags, r.file, r.offset); });
}

void* map_file(void* at, const mapped::request& r, const void* caller) noexcept {
  if (is_file_for_all(r, caller)) {
    const mapped::answer got = mapped::map(r);
    if (got.how == mapped::kind::done) return got.at;
    if (got.how == mapped::kind::zeroes) return map_shared(r.bytes);
    if (got.how == mapped::kind::copied) return map_copy(map_shared(r.bytes), r);
  }
  return map_own(at, r, caller);
}

/// Of mremap(2): always elsewhere, as what lies behind may be anybody's; at `to`, if it is not null.
void* move_shared(void* at, std::size_t bytes, std::size_t wanted, bool stays, void* to) noexcept {
  if (any_closed(at, bytes)) {
    refuse_mapping("mremap()", at, "some of its pages are closed: open them by mprotect(PROT_READ | PROT_WRITE) first");
    return MAP_FAILED;
  }
  void* const moved = to == nullptr ? map_shared(wanted) : map_pages_over(to, wanted, false) ? to : MAP_FAILED;
  if (moved == MAP_FAILED) return moved;
  memcpy(moved, at, std::min(bytes, wanted));
  if (stays) {
    memset(at, 0, bytes);
  } else {
    (void)unmap_shared(at, bytes);
  }
  return moved;
}

void* shrink_shared(void* at, std::size_t bytes, std::size_t wanted) noexcept {
  return wanted == bytes || unmap_shared(static_cast<char*>(at) + wanted, bytes - wanted) == 0 ? at : MAP_FAILED;
}

}  // namespace

namespace quire::program {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 62;  ///< whole pages of it are a number, too

}  // namespace

void* map_memory(void* at, std::size_t bytes, int protection, int flags, int file, off64_t offset,
                 const void* caller) noexcept {
  if (bytes > most_bytes) return errno = ENOMEM, MAP_FAILED;
  const mapped::request r{bytes, protection, flags, file, offset};
  if (is_for_all(bytes, protection, flags) && for_program(caller)) {
    void* const got = map_shared(bytes, flags, protection == PROT_NONE);
    if (got != MAP_FAILED || protection != PROT_NONE) return got;
  }
  if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0) {
    if (const part shared = shared_part(at, bytes, caller); shared != part::none) return map_over(at, r, shared);
  }
  void* const got = map_file(at, r, caller);
  constexpr int chosen = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT;
  if (got != MAP_FAILED && (flags & chosen) != 0 && for_program(caller))
    note_private_mapping(reinterpret_cast<std::uint64_t>(got), whole_pages(bytes));
  return got;
}

int unmap_memory(void* at, std::size_t bytes, const void* caller) noexcept {
  const part shared = shared_part(at, bytes, caller);
  if (shared == part::none) return map_next([=] { return QUIRE_NEXT(munmap)(at, bytes); });
  if (!begins_page(at)) return errno = EINVAL, -1;
  if (mapped::mapped_part(at, bytes) != part::none) return mapped::unmap(at, bytes);
  if (shared == part::all) return unmap_shared(at, bytes);
  refuse_mapping("munmap()", at, whole_advice);
  return -1;
}

void* move_memory(void* at, std::size_t bytes, std::size_t wanted, int flags, void* to, const void* caller) noexcept {
  const part from = shared_part(at, std::max<std::size_t>(bytes, 1), caller);
  const part onto = to != nullptr ? shared_part(to, wanted, caller) : part::none;
  if (from == part::none && onto == part::none)
    return map_next([=] { return QUIRE_NEXT(mremap)(at, bytes, wanted, flags, to); });
  const bool stays = (flags & MREMAP_DONTUNMAP) != 0;
  if (bytes > most_bytes || wanted > most_bytes) return errno = EINVAL, MAP_FAILED;
  if (!begins_page(at) || wanted == 0 || (stays && whole_pages(bytes) != whole_pages(wanted)) ||
      ((stays || to != nullptr) && (flags & MREMAP_MAYMOVE) == 0))
    return errno = EINVAL, MAP_FAILED;
  const std::size_t had = whole_pages(bytes), all = whole_pages(wanted);
  const auto first = reinterpret_cast<std::uintptr_t>(at), there = reinterpret_cast<std::uintptr_t>(to);
  if (to != nullptr && (!begins_page(to) || (first < there + all && there < first + had)))
    return errno = EINVAL, MAP_FAILED;
  const char* const advice = from == part::some || onto == part::some ? whole_advice
                             : to != nullptr && from != onto
                                 ? "one of the two is shared by all nodes: copy the content, and unmap the old place"
                             : bytes == 0 ? "shared memory has no second address: use the first one"
                                          : nullptr;
  if (advice != nullptr) return refuse_mapping("mremap()", at, advice), MAP_FAILED;
  if (mapped::mapped_part(at, had) != part::none) {
    if (!stays && to == nullptr) return mapped::resize(at, had, all, (flags & MREMAP_MAYMOVE) != 0);
    return refuse_mapping("mremap()", at, "a file is mapped there: leave the new address to the system"), MAP_FAILED;
  }
  if (!stays && to == nullptr && all <= had) return shrink_shared(at, had, all);
  if ((flags & MREMAP_MAYMOVE) == 0) return errno = ENOMEM, MAP_FAILED;
  return move_shared(at, had, all, stays, to);
}

}  // namespace quire::program

QUIRE_LIBC void* mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  return map_memory(at, bytes, protection, flags, file, offset, QUIRE_CALLER);
}
QUIRE_LIBC void* mmap64(void* at, std::size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
  return map_memory(at, bytes, protection, flags, file, offset, QUIRE_CALLER);
}
QUIRE_LIBC int munmap(void* at, std::size_t bytes) noexcept { return unmap_memory(at, bytes, QUIRE_CALLER); }

QUIRE_LIBC void* mremap(void* at, std::size_t bytes, std::size_t wanted, int flags, ...) noexcept {
  va_list more;
  va_start(more, flags);
  void* const to = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  return move_memory(at, bytes, wanted, flags, to, QUIRE_CALLER);
}

QUIRE_LIBC int msync(void* at, std::size_t bytes, int flags) {
  const cancellation_point<> point(QUIRE_CALLER);
  if (shared_part(at, bytes, QUIRE_CALLER) == part::none) return QUIRE_NEXT(msync)(at, bytes, flags);
  constexpr int kinds = MS_ASYNC | MS_SYNC;
  if (!begins_page(at) || (flags & ~(kinds | MS_INVALIDATE)) != 0 || (flags & kinds) == kinds)
    return errno = EINVAL, -1;
  return mapped::mapped_part(at, bytes) == part::none ? 0 : mapped::sync(at, bytes, flags);
}
