// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/start/image.hpp"

#include <link.h>
#include <quire/system.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "openmp/start/fail.hpp"

namespace quire::openmp {
namespace {

constexpr std::uint64_t page = 4096;

struct image {
  std::uint64_t first_writable = ~std::uint64_t{0}, end = 0, after_relocation = 0;
  const ElfW(Dyn)* dynamic = nullptr;
  std::uint64_t base = 0;
  bool has_thread_data = false;
};

/// The first module is the executable.
int look_at(dl_phdr_info* module, std::size_t, void* argument) {
  auto& of = *static_cast<image*>(argument);
  of.base = module->dlpi_addr;
  for (const ElfW(Phdr)* h = module->dlpi_phdr; h != module->dlpi_phdr + module->dlpi_phnum; ++h) {
    const std::uint64_t first = module->dlpi_addr + h->p_vaddr, end = first + h->p_memsz;
    if (h->p_type == PT_TLS && h->p_memsz != 0) of.has_thread_data = true;
    if (h->p_type == PT_DYNAMIC) of.dynamic = reinterpret_cast<const ElfW(Dyn)*>(first);
    if (h->p_type == PT_GNU_RELRO && end > of.after_relocation) of.after_relocation = end;
    if (h->p_type != PT_LOAD || (h->p_flags & PF_W) == 0) continue;
    if (first < of.first_writable) of.first_writable = first;
    if (end > of.end) of.end = end;
  }
  return 1;
}

image executable() noexcept {
  image of;
  ::dl_iterate_phdr(look_at, &of);
  return of;
}

}  // namespace

void share_static_data() {
  const image of = executable();
  const std::uint64_t start = of.after_relocation > of.first_writable ? of.after_relocation : of.first_writable;
  const std::uint64_t first = start / page * page, end = (of.end + page - 1) / page * page;
  std::uint64_t values[] = {first, end};
  if (const quire_status why = quire_broadcast(values, sizeof values, 0); why != QUIRE_OK) fail("nodes cannot compare their programs", why);
  if (values[0] != first || values[1] != end) fail("the program lies elsewhere than on node 0, or is another one", QUIRE_INVALID);
  if (first >= end) return;
  if (of.has_thread_data && quire_node() == 0) {
    std::fprintf(stderr, "quire: OpenMP: the program has threadprivate (or thread_local) variables: each thread has its own, but copyin and copyprivate of them, and "
                 "pointers to them, do not reach other nodes\n");
  }
  quire_region region{};
  const quire_status why = quire_region_adopt(nullptr, reinterpret_cast<void*>(first), end - first, 0, &region);
  if (why != QUIRE_OK) fail("the program's static data cannot be shared", why);
}

void run_constructors(int count, char** arguments, char** environment) {
  using function = void (*)(int, char**, char**);
  const image of = executable();
  std::uint64_t init = 0, array = 0, bytes = 0;
  for (const ElfW(Dyn)* d = of.dynamic; d != nullptr && d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_INIT) init = of.base + d->d_un.d_ptr;
    if (d->d_tag == DT_INIT_ARRAY) array = of.base + d->d_un.d_ptr;
    if (d->d_tag == DT_INIT_ARRAYSZ) bytes = d->d_un.d_val;
  }
  if (init != 0) reinterpret_cast<function>(init)(count, arguments, environment);
  const auto* const functions = reinterpret_cast<const function*>(array);
  for (std::uint64_t i = 0; i < bytes / sizeof(function); ++i) functions[i](count, arguments, environment);
}

/// `quire exec` has kept what was there before (tools/exec_environment.hpp).
void restore_environment() {
  constexpr struct {
    const char *name, *kept;
  } changed[] = {{"LD_PRELOAD", "QUIRE_EXEC_LD_PRELOAD"}, {"LD_BIND_NOW", "QUIRE_EXEC_LD_BIND_NOW"}};
  for (const auto& one : changed) {
    const char* const before = std::getenv(one.kept);
    if (before != nullptr && *before != 0) {
      ::setenv(one.name, before, 1);
    } else {
      ::unsetenv(one.name);
    }
    ::unsetenv(one.kept);
  }
  ::unsetenv("QUIRE_EXEC_STACK");
}

}  // namespace quire::openmp
