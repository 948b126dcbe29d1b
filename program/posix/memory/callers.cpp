// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/memory/callers.hpp"

#include <dlfcn.h>
#include <quire/quire.h>
#include <quire/system.h>

#include <algorithm>
#include <array>

#include "program/posix/memory/release_heap.hpp"
#include "program/posix/memory/unit_use.hpp"
#include "program/process/libc_heap.hpp"

namespace quire::program {
namespace {

span g_shared, g_small, g_libc, g_linker,
    g_quire;  // of shared memory: what is large, and small blocks if they lie elsewhere (QUIRE_HEAP_VIEWS)
bool g_open = false;
std::array<span, 16> g_allocators;
std::size_t g_allocator_count = 0;

bool is_of_allocator(const void* caller) noexcept {
  const auto end = g_allocators.begin() + static_cast<std::ptrdiff_t>(g_allocator_count);
  return std::any_of(g_allocators.begin(), end, [caller](const span& code) { return code.has(caller); });
}

}  // namespace

bool note_other_allocator(span code) noexcept {
  if (g_allocator_count == g_allocators.size()) return false;
  g_allocators[g_allocator_count++] = code;
  return true;
}

bool lies_in_heap(const void* at) noexcept { return g_shared.has(at) || g_small.has(at) || in_release_heap(at); }

bool from_program(const void* caller) noexcept {
  return g_open && !g_libc.has(caller) && !g_linker.has(caller) && !g_quire.has(caller) && !is_for_unit(caller) &&
         !is_of_allocator(caller);
}
bool for_program(const void* caller) noexcept {
  return g_open && lies_in_heap(__builtin_frame_address(0)) && from_program(caller);
}

bool in_heap(const void* at) noexcept { return g_open && lies_in_heap(at); }
bool is_heap_open() noexcept { return g_open; }

namespace {

/// The heap that blocks of so many bytes come from.
bool find_heap(std::size_t bytes, span& where) noexcept {
  void *any = nullptr, *first = nullptr;
  quire_region heap{};
  std::uint64_t all = 0;
  if (quire_malloc(bytes, &any) != QUIRE_OK || quire_region_of(any, &heap) != QUIRE_OK ||
      quire_heap_range(heap, &first, &all) != QUIRE_OK)
    return false;
  (void)quire_free(any);
  where = {reinterpret_cast<std::uintptr_t>(first), all};
  return true;
}

}  // namespace

void open_heap() noexcept {
  if (!find_heap(4096, g_shared) || !find_heap(1, g_small)) return;
  g_libc = code_around(libc_code());
  const auto* const linker = ::dlsym(RTLD_DEFAULT, "__tls_get_addr");
  g_linker = linker != nullptr ? code_around(linker) : span{};
  g_quire = code_around(reinterpret_cast<const void*>(&quire_start));
  find_units_library();
  g_open = true;
}

void close_heap() noexcept { g_open = false; }

}  // namespace quire::program
