// SPDX-License-Identifier: BSD-3-Clause
// Allocators, which are those of omp_*; atomic operations for which the compiler has no instruction.
#include <cstddef>
#include <cstdint>

#include "program/job/shared_state.hpp"
#include "program/omp/kmp/abi.hpp"
#include "program/posix/errands/locks.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

extern "C" {
struct trait;
std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const trait* traits);
void omp_destroy_allocator(std::uintptr_t handle);
void omp_set_default_allocator(std::uintptr_t handle);
std::uintptr_t omp_get_default_allocator();
void* omp_alloc(std::size_t bytes, std::uintptr_t handle);
void* omp_aligned_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t handle);
void* omp_calloc(std::size_t count, std::size_t bytes, std::uintptr_t handle);
void* omp_realloc(void* at, std::size_t bytes, std::uintptr_t handle, std::uintptr_t free_handle);
void omp_free(void* at, std::uintptr_t handle);
}

QUIRE_KMP std::uintptr_t __kmpc_init_allocator(id, std::uintptr_t space, int count, const trait* traits) {
  return omp_init_allocator(space, count, traits);
}
QUIRE_KMP void __kmpc_destroy_allocator(id, std::uintptr_t handle) { omp_destroy_allocator(handle); }
QUIRE_KMP void __kmpc_set_default_allocator(id, std::uintptr_t handle) { omp_set_default_allocator(handle); }
QUIRE_KMP std::uintptr_t __kmpc_get_default_allocator(id) { return omp_get_default_allocator(); }
QUIRE_KMP void* __kmpc_alloc(id, std::size_t bytes, std::uintptr_t handle) { return omp_alloc(bytes, handle); }
/// The compiler rounds no sizes.
QUIRE_KMP void* __kmpc_aligned_alloc(id, std::size_t alignment, std::size_t bytes, std::uintptr_t handle) {
  const std::size_t least = alignment != 0 ? alignment : 1;
  return omp_aligned_alloc(least, (bytes + least - 1) / least * least, handle);
}
QUIRE_KMP void* __kmpc_calloc(id, std::size_t count, std::size_t bytes, std::uintptr_t handle) {
  return omp_calloc(count, bytes, handle);
}
QUIRE_KMP void* __kmpc_realloc(id, void* at, std::size_t bytes, std::uintptr_t handle, std::uintptr_t free_handle) {
  return omp_realloc(at, bytes, handle, free_handle);
}
QUIRE_KMP void __kmpc_free(id, void* at, std::uintptr_t handle) { omp_free(at, handle); }

// Handles as data, which older versions of LLVM's omp.h declare.
#define QUIRE_HANDLE(name, value) extern "C" __attribute__((visibility("default"))) const std::uintptr_t name = value;
QUIRE_HANDLE(omp_null_allocator, 0)
QUIRE_HANDLE(omp_default_mem_alloc, 1)
QUIRE_HANDLE(omp_large_cap_mem_alloc, 2)
QUIRE_HANDLE(omp_const_mem_alloc, 3)
QUIRE_HANDLE(omp_high_bw_mem_alloc, 4)
QUIRE_HANDLE(omp_low_lat_mem_alloc, 5)
QUIRE_HANDLE(omp_cgroup_mem_alloc, 6)
QUIRE_HANDLE(omp_pteam_mem_alloc, 7)
QUIRE_HANDLE(omp_thread_mem_alloc, 8)
QUIRE_HANDLE(omp_default_mem_space, 0)
QUIRE_HANDLE(omp_large_cap_mem_space, 1)
QUIRE_HANDLE(omp_const_mem_space, 2)
QUIRE_HANDLE(omp_high_bw_mem_space, 3)
QUIRE_HANDLE(omp_low_lat_mem_space, 4)

QUIRE_KMP void __kmpc_atomic_start() { lock(shared().atomics); }
QUIRE_KMP void __kmpc_atomic_end() { unlock(shared().atomics); }
