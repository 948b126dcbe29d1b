// SPDX-License-Identifier: BSD-3-Clause
// Found at the first call, which the dynamic linker makes, in libc's own table of symbols.
#include "program/process/libc_heap.hpp"

#include <link.h>
#include <string.h>

#include "program/process/fail.hpp"
#include "program/process/once.hpp"
#include "program/process/symbols.hpp"
#include "program/sites/known_libraries.hpp"

namespace quire::program {
namespace {

struct libc_functions {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  void (*free)(void*);
  std::size_t (*usable_size)(void*);
};
constinit libc_functions g_functions{};
constinit made_once g_functions_made;

template <class Function>
bool note(Function*& into, const char* wanted, const char* name, const void* at) noexcept {
  if (into == nullptr && strcmp(name, wanted) == 0)
    into = reinterpret_cast<Function*>(reinterpret_cast<std::uintptr_t>(at));
  return into != nullptr;
}

int look_in_libc(dl_phdr_info* info, std::size_t, void*) {
  if (!sites::begins(sites::last_part(info->dlpi_name), "libc.so")) return 0;
  const ElfW(Dyn)* dynamic = nullptr;
  for (const ElfW(Phdr)* h = info->dlpi_phdr; h != info->dlpi_phdr + info->dlpi_phnum; ++h) {
    if (h->p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + h->p_vaddr);
  }
  libc_functions& f = g_functions;
  return dynamic_symbols(dynamic, info->dlpi_addr).any_defined([&f](const char* name, const void* at) {
    return note(f.malloc, "__libc_malloc", name, at) & note(f.calloc, "__libc_calloc", name, at) &
           note(f.realloc, "__libc_realloc", name, at) & note(f.memalign, "__libc_memalign", name, at) &
           note(f.free, "__libc_free", name, at) & note(f.usable_size, "malloc_usable_size", name, at);
  });
}

const libc_functions& libc_heap() noexcept {
  g_functions_made.run([] {
    if (::dl_iterate_phdr(look_in_libc, nullptr) == 0)
      fail("libc has not the functions of its heap", QUIRE_UNSUPPORTED);
  });
  return g_functions;
}

}  // namespace

void* libc_malloc(std::size_t bytes) noexcept { return libc_heap().malloc(bytes); }
void* libc_calloc(std::size_t count, std::size_t bytes) noexcept { return libc_heap().calloc(count, bytes); }
void* libc_realloc(void* at, std::size_t bytes) noexcept { return libc_heap().realloc(at, bytes); }
void* libc_memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return libc_heap().memalign(alignment, bytes);
}
void libc_free(void* at) noexcept { libc_heap().free(at); }
std::size_t libc_usable_size(void* at) noexcept { return libc_heap().usable_size(at); }
const void* libc_code() noexcept { return reinterpret_cast<const void*>(libc_heap().malloc); }

}  // namespace quire::program
