// SPDX-License-Identifier: BSD-3-Clause
// malloc and its family. Memory is shared if a thread of the program asks for it: its stack is shared, and the caller
// is not libc or the dynamic linker, whose own structures are of this node. Anything else is libc's business, as
// before. free() goes by the address.
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <quire/quire.h>
#include <quire/system.h>
#include <sys/mman.h>

#include <cstring>

#include "program/posix/heap/heap.hpp"
#include "program/posix/heap/kept_blocks.hpp"
#include "program/posix/heap/shared_pages.hpp"
#include "program/posix/memory/release_heap.hpp"
#include "program/process/libc_heap.hpp"
#include "program/process/linkers_memory.hpp"

namespace quire::program {
namespace {

/// Of scratch_memory: handed out from its start on.
constexpr std::size_t scratch_bytes = std::size_t{4} << 30;
std::byte* g_scratch = nullptr;
std::size_t g_scratch_used = 0;

bool is_scratch(const void* at) noexcept {
  return g_scratch != nullptr && span{reinterpret_cast<std::uintptr_t>(g_scratch), scratch_bytes}.has(at);
}

void* scratch(std::size_t bytes) noexcept {
  if (bytes > scratch_bytes - g_scratch_used) return nullptr;
  void* const at = g_scratch + g_scratch_used;
  g_scratch_used += (bytes + 15) / 16 * 16;
  return at;
}

bool wants_shared(const void* caller) noexcept { return for_program(caller); }

/// Large blocks have release consistency where memory is mixed, as long as there is room for them.
void* shared(const void* caller, std::size_t bytes, std::size_t alignment, bool zero) noexcept {
  if (is_large(bytes)) {
    if (void* const at = allocate_large(caller, bytes, alignment, zero); at != nullptr) return at;
  }
  void* const at = allocate_shared(bytes, alignment, zero);
  return at != nullptr || !give_kept_back() ? at : allocate_shared(bytes, alignment, zero);
}

std::size_t size_of(void* at) noexcept {
  std::size_t bytes = 0;
  return quire_allocation_size(at, &bytes) == QUIRE_OK ? bytes : 0;
}

}  // namespace

scratch_memory::scratch_memory() noexcept {
  void* const at =
      ::mmap(nullptr, scratch_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return;  // libc's memory does as well
  g_scratch = static_cast<std::byte*>(at);
  g_scratch_used = 0;
}

scratch_memory::~scratch_memory() {
  if (g_scratch != nullptr) ::munmap(g_scratch, scratch_bytes);
  g_scratch = nullptr;
}

void* allocate_shared(std::size_t bytes, std::size_t alignment, bool zero) noexcept {
  void* at = nullptr;
  if (bytes == 0) bytes = 1;
  const bool plain =
      alignment <= 16 || (alignment == 4096 && bytes >= 4096);  // from a page on, memory begins on a page
  const quire_status why = zero    ? quire_region_calloc(quire_region{}, plain ? 0 : alignment, bytes, &at)
                           : plain ? quire_malloc(bytes, &at)
                                   : quire_aligned_alloc(alignment, bytes, &at);
  if (why == QUIRE_OK) return at;
  errno = ENOMEM;
  return nullptr;
}

void* allocate_for(const void* caller, std::size_t bytes, std::size_t alignment) noexcept {
  if (g_scratch != nullptr && alignment <= 16) [[unlikely]]
    return scratch(bytes);
  if (wants_shared(caller)) return shared(caller, bytes, alignment, false);
  return alignment <= 16 ? libc_malloc(bytes) : libc_memalign(alignment, bytes);
}

void give_back(void* at) noexcept {
  if (is_scratch(at)) [[unlikely]]
    return;
  if (!lies_in_heap(at)) return libc_free(at);
  if (!is_heap_open()) return;  // the job ends, and shared memory with it
  const int saved = errno;
  open_block(at);
  (void)quire_free(at);
  errno = saved;
}

}  // namespace quire::program

using namespace quire::program;

#define QUIRE_EXPORT extern "C" __attribute__((visibility("default")))

QUIRE_EXPORT void* malloc(std::size_t bytes) noexcept {
  if (g_scratch != nullptr) [[unlikely]]
    return scratch(bytes);
  if (wants_shared(QUIRE_CALLER)) return shared(QUIRE_CALLER, bytes, 16, false);
  note_linkers_memory();
  return libc_malloc(bytes);
}

QUIRE_EXPORT void* calloc(std::size_t count, std::size_t bytes) noexcept {
  if (!wants_shared(QUIRE_CALLER)) {
    note_linkers_memory();
    return libc_calloc(count, bytes);
  }
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return shared(QUIRE_CALLER, all, 16, true);
}

QUIRE_EXPORT void free(void* at) noexcept { give_back(at); }

namespace {

/// To memory of the other consistency: a block of less than 64 KiB may be a flag.
void* move(void* at, std::size_t bytes, const void* caller) noexcept {
  void* const moved = shared(caller, bytes, 16, false);
  if (moved == nullptr) return nullptr;
  const std::size_t had = size_of(at);
  std::memcpy(moved, at, had < bytes ? had : bytes);
  (void)quire_free(at);
  return moved;
}

/// What is shared stays so: only other memory is of the kind that its caller wants.
void* resize(void* at, std::size_t bytes, const void* caller) noexcept {
  if (at == nullptr) return wants_shared(caller) ? shared(caller, bytes, 16, false) : libc_malloc(bytes);
  if (!lies_in_heap(at)) {
    if (!wants_shared(caller)) return libc_realloc(at, bytes);
    void* const moved = shared(caller, bytes, 16, false);
    if (moved == nullptr) return nullptr;
    const std::size_t had = libc_usable_size(at);
    std::memcpy(moved, at, had < bytes ? had : bytes);
    libc_free(at);
    return moved;
  }
  open_block(at);
  if (bytes == 0) {
    (void)quire_free(at);
    return nullptr;
  }
  const bool large = is_large(bytes), is_there = in_release_heap(at);
  if (is_there ? !large : large && !is_large(size_of(at))) return move(at, bytes, caller);
  void* moved = at;
  if (quire_realloc(bytes, &moved) == QUIRE_OK) return moved;
  if (is_there) return move(at, bytes, caller);  // that heap is full
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

QUIRE_EXPORT void* realloc(void* at, std::size_t bytes) noexcept { return resize(at, bytes, QUIRE_CALLER); }
QUIRE_EXPORT void* reallocarray(void* at, std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (!__builtin_mul_overflow(count, bytes, &all)) return resize(at, all, QUIRE_CALLER);
  errno = ENOMEM;
  return nullptr;
}

QUIRE_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return wants_shared(QUIRE_CALLER) ? shared(QUIRE_CALLER, bytes, alignment, false) : libc_memalign(alignment, bytes);
}
QUIRE_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return wants_shared(QUIRE_CALLER) ? shared(QUIRE_CALLER, bytes, alignment, false) : libc_memalign(alignment, bytes);
}
QUIRE_EXPORT void* valloc(std::size_t bytes) noexcept {
  return wants_shared(QUIRE_CALLER) ? shared(QUIRE_CALLER, bytes, 4096, false) : libc_memalign(4096, bytes);
}

QUIRE_EXPORT void* pvalloc(std::size_t bytes) noexcept {
  const std::size_t whole = (bytes + 4095) / 4096 * 4096;
  return wants_shared(QUIRE_CALLER) ? shared(QUIRE_CALLER, whole, 4096, false) : libc_memalign(4096, whole);
}

QUIRE_EXPORT int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) noexcept {
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  const int saved = errno;
  void* const at =
      wants_shared(QUIRE_CALLER) ? shared(QUIRE_CALLER, bytes, alignment, false) : libc_memalign(alignment, bytes);
  errno = saved;
  if (at == nullptr) return ENOMEM;
  *to = at;
  return 0;
}

QUIRE_EXPORT std::size_t malloc_usable_size(void* at) noexcept {
  if (lies_in_heap(at)) return size_of(at);
  return at != nullptr ? libc_usable_size(at) : 0;
}

/// By these names allocators and programs find libc's heap.
#define QUIRE_SECOND_NAME(name, of) QUIRE_EXPORT decltype(::of) name __attribute__((alias(#of), copy(of)))
QUIRE_SECOND_NAME(__libc_malloc, malloc);
QUIRE_SECOND_NAME(__libc_calloc, calloc);
QUIRE_SECOND_NAME(__libc_realloc, realloc);
QUIRE_SECOND_NAME(__libc_memalign, memalign);
QUIRE_SECOND_NAME(__libc_valloc, valloc);
QUIRE_SECOND_NAME(__libc_pvalloc, pvalloc);
QUIRE_SECOND_NAME(__libc_free, free);
QUIRE_SECOND_NAME(cfree, free);
