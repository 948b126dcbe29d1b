// SPDX-License-Identifier: BSD-3-Clause
// Allocators. All memory is of one kind; of the traits, alignment, the size of the pool, and what happens when that is
// used up matter.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "program/omp/gomp/export.hpp"
#include "program/omp/team/team.hpp"

using namespace quire::program;

namespace {

enum key : int { alignment_key = 2, pool_key = 4, fallback_key = 5, fallback_data_key = 6, last_key = 8 };
enum fallback : std::uintptr_t { by_default = 11, by_null = 12, by_abort = 13, by_allocator = 14 };
constexpr std::uintptr_t last_predefined = 8, default_memory = 1, by_default_value = ~std::uintptr_t{0};

struct trait {
  int name;
  std::uintptr_t value;
};
struct allocator {
  std::uintptr_t alignment = 1, pool_bytes = ~std::uintptr_t{0}, fallback = by_default, fallback_data = 0;
  std::uint64_t used = 0;
};
/// In front of what is handed out.
struct header {
  void* memory;
  std::size_t bytes, taken;
  std::uintptr_t handle;
};

allocator* own(std::uintptr_t handle) noexcept {
  return handle > last_predefined ? reinterpret_cast<allocator*>(handle) : nullptr;
}
std::uintptr_t named(std::uintptr_t handle) noexcept {
  return handle != 0 ? handle : static_cast<std::uintptr_t>(own_variables().allocator);
}
header* header_of(void* at) noexcept { return static_cast<header*>(at) - 1; }
bool is_power(std::size_t n) noexcept { return n != 0 && (n & (n - 1)) == 0; }

bool take_from_pool(allocator* a, std::size_t bytes) noexcept {
  if (a == nullptr || a->pool_bytes == ~std::uintptr_t{0}) return true;
  for (std::uint64_t used = __atomic_load_n(&a->used, __ATOMIC_RELAXED);;) {
    if (bytes > a->pool_bytes || used > a->pool_bytes - bytes) return false;
    if (__atomic_compare_exchange_n(&a->used, &used, used + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return true;
  }
}
void give_to_pool(allocator* a, std::size_t bytes) noexcept {
  if (a != nullptr && a->pool_bytes != ~std::uintptr_t{0}) __atomic_fetch_sub(&a->used, bytes, __ATOMIC_RELAXED);
}

void* try_allocate(std::size_t alignment, std::size_t bytes, std::uintptr_t handle) noexcept {
  allocator* const a = own(handle);
  if (a != nullptr && a->alignment > alignment) alignment = a->alignment;
  if (alignment < 16) alignment = 16;
  std::size_t all = 0;
  if (__builtin_add_overflow(bytes, sizeof(header) + alignment, &all) || !take_from_pool(a, all)) return nullptr;
  void* const memory = std::malloc(all);
  if (memory == nullptr) {
    give_to_pool(a, all);
    return nullptr;
  }
  const auto first = (reinterpret_cast<std::uintptr_t>(memory) + sizeof(header) + alignment - 1) & ~(alignment - 1);
  void* const at = reinterpret_cast<void*>(first);
  *header_of(at) = {memory, bytes, all, handle};
  return at;
}

void* allocate(std::size_t alignment, std::size_t bytes, std::uintptr_t handle) noexcept {
  if (bytes == 0 || !is_power(alignment)) return nullptr;
  constexpr int most_fallbacks = 64;  // a circle of allocators ends somewhere
  handle = named(handle);
  for (int i = 0; i < most_fallbacks; ++i) {
    if (void* const at = try_allocate(alignment, bytes, handle); at != nullptr) return at;
    const allocator* const a = own(handle);
    const std::uintptr_t then = a != nullptr ? a->fallback : std::uintptr_t{by_null};
    if (then == by_abort) {
      std::fprintf(stderr,
                   "quire: OpenMP: an allocator has no room left for %zu bytes, and is to end the program then\n",
                   bytes);
      std::abort();
    }
    if (then == by_null) return nullptr;
    handle = then == by_allocator ? a->fallback_data : default_memory;
  }
  return nullptr;
}

void* zeroed(void* at, std::size_t bytes) noexcept { return at != nullptr ? std::memset(at, 0, bytes) : nullptr; }

void release(void* at) noexcept {
  if (at == nullptr) return;
  const header h = *header_of(at);
  give_to_pool(own(h.handle), h.taken);
  std::free(h.memory);
}

bool apply(allocator& a, const trait& t) noexcept {
  const bool unset = t.value == by_default_value;
  switch (t.name) {
    case alignment_key:
      if (unset) return true;
      a.alignment = t.value;
      return is_power(t.value);
    case pool_key:
      a.pool_bytes = t.value;
      return unset || t.value != 0;
    case fallback_key:
      a.fallback = unset ? std::uintptr_t{by_default} : t.value;
      return a.fallback >= by_default && a.fallback <= by_allocator;
    case fallback_data_key:
      a.fallback_data = t.value;
      return true;
    default:
      return t.name >= 1 && t.name <= last_key;  // hints: contention, who has access, pinned memory, partitions
  }
}

}  // namespace

QUIRE_GOMP std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const trait* traits) {
  constexpr std::uintptr_t last_space = 4;
  allocator made;
  if (space > last_space) return 0;
  for (int i = 0; i < count; ++i) {
    if (!apply(made, traits[i])) return 0;
  }
  if (made.fallback == by_allocator && made.fallback_data == 0) return 0;
  auto* const at = static_cast<allocator*>(std::malloc(sizeof(allocator)));
  if (at == nullptr) return 0;
  *at = made;
  return reinterpret_cast<std::uintptr_t>(at);
}
QUIRE_GOMP void omp_destroy_allocator(std::uintptr_t handle) { std::free(own(handle)); }
QUIRE_GOMP void omp_set_default_allocator(std::uintptr_t handle) {
  own_variables().allocator = handle != 0 ? handle : default_memory;
}
QUIRE_GOMP std::uintptr_t omp_get_default_allocator() { return static_cast<std::uintptr_t>(own_variables().allocator); }

QUIRE_GOMP void* omp_alloc(std::size_t bytes, std::uintptr_t handle) { return allocate(1, bytes, handle); }
QUIRE_GOMP void* omp_aligned_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t handle) {
  return alignment != 0 && bytes % alignment == 0 ? allocate(alignment, bytes, handle) : nullptr;
}
QUIRE_GOMP void omp_free(void* at, std::uintptr_t) { release(at); }
QUIRE_GOMP void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t bytes,
                                    std::uintptr_t handle) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all) || alignment == 0) return nullptr;
  return zeroed(allocate(alignment, all, handle), all);
}
QUIRE_GOMP void* omp_calloc(std::size_t count, std::size_t bytes, std::uintptr_t handle) {
  return omp_aligned_calloc(1, count, bytes, handle);
}
QUIRE_GOMP void* omp_realloc(void* at, std::size_t bytes, std::uintptr_t handle, std::uintptr_t free_handle) {
  if (at == nullptr) return omp_alloc(bytes, handle);
  if (bytes == 0) {
    release(at);
    return nullptr;
  }
  const header h = *header_of(at);
  (void)free_handle;
  void* const moved = allocate(1, bytes, handle != 0 ? handle : h.handle);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, at, bytes < h.bytes ? bytes : h.bytes);
  release(at);
  return moved;
}
/// Variables with an allocate clause.
QUIRE_GOMP void* GOMP_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t handle) {
  void* const at = allocate(alignment != 0 ? alignment : 1, bytes != 0 ? bytes : 1, handle);
  if (at != nullptr) return at;
  std::fprintf(stderr, "quire: OpenMP: no memory for %zu bytes of a variable with an allocate clause\n", bytes);
  std::abort();
}
QUIRE_GOMP void GOMP_free(void* at, std::uintptr_t) { release(at); }
