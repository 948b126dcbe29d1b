// SPDX-License-Identifier: BSD-3-Clause
// No C++ library yet: this runs before all constructors.
#include "program/process/modules.hpp"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <array>

#include "program/process/fail.hpp"
#include "program/process/symbols.hpp"
#include "program/sites/known_libraries.hpp"

namespace quire::program {
namespace {

using sites::begins;
using sites::last_part;

constexpr std::uint64_t page = 4096;
std::array<module, 2048> g_modules;
std::size_t g_count = 0;
bool g_too_many = false;

void add(std::uint64_t& sum, std::uint64_t value) noexcept { sum = (sum ^ value) * 1099511628211u; }

/// In hexadecimal, as tools show it; what does not fit is left out.
void write_build_id(char (&text)[sizeof module::build], const std::byte* id, std::uint64_t bytes) noexcept {
  for (std::uint64_t i = 0; i < bytes && 2 * i + 2 < sizeof text; ++i) {
    text[2 * i] = "0123456789abcdef"[static_cast<unsigned>(id[i]) >> 4];
    text[2 * i + 1] = "0123456789abcdef"[static_cast<unsigned>(id[i]) & 15];
  }
}

/// The linker gives each file that it makes a number of its own.
void add_build_id(module& of, const std::byte* notes, std::uint64_t bytes) noexcept {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    memcpy(&head, notes, sizeof head);
    const std::uint64_t name = (head.n_namesz + 3u) / 4 * 4, value = (head.n_descsz + 3u) / 4 * 4,
                        all = sizeof head + name + value;
    if (all > bytes) return;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(notes + sizeof head, "GNU", 4) == 0) {
      const std::byte* const id = notes + sizeof head + name;
      for (std::uint64_t i = 0; i < head.n_descsz; ++i) add(of.sum, static_cast<std::uint64_t>(id[i]));
      write_build_id(of.build, id, head.n_descsz);
      return;
    }
    notes += all;
    bytes -= all;
  }
}

void look_at(module& of, const ElfW(Phdr) & h) noexcept {
  const std::uint64_t first = of.base + h.p_vaddr, end = first + h.p_memsz;
  if (h.p_type == PT_DYNAMIC) of.dynamic = reinterpret_cast<ElfW(Dyn)*>(first);
  if (h.p_type == PT_GNU_RELRO && end > of.after_relocation) of.after_relocation = end;
  if (h.p_type == PT_GNU_STACK) of.runs_stack = (h.p_flags & PF_X) != 0;
  if (h.p_type == PT_NOTE) add_build_id(of, reinterpret_cast<const std::byte*>(first), h.p_memsz);
  if (h.p_type == PT_TLS && h.p_memsz != 0) {
    of.thread_data = reinterpret_cast<const void*>(first);
    of.thread_data_bytes = h.p_memsz;
    of.thread_data_alignment = h.p_align;
  }
  if (h.p_type != PT_LOAD) return;
  add(of.sum, first);
  add(of.sum, end);
  if ((h.p_flags & PF_X) != 0) {
    of.code_first = first;
    of.code_end = end;
  }
  if ((h.p_flags & PF_W) == 0) return;
  if (of.writable_count == module::most_data) fail("a module has more writable segments than 8", QUIRE_LIMIT);
  of.writable[of.writable_count++] = {first, end};
}

/// Its name in the environment, as long as that stands there: the first call keeps it.
const char* file_of_exec() noexcept {
  static char path[4096];
  static bool known = false;
  if (!known) {
    known = true;
    const char* const told = getenv("QUIRE_EXEC_FILE");
    if (told != nullptr && strlen(told) < sizeof path) strcpy(path, told);
  }
  return path;
}

/// What is read-only after relocation goes; the rest is whole pages, and segments that share one are one.
void keep_whole_pages(module& of) noexcept {
  std::size_t kept = 0;
  for (data_range r : of.data()) {
    if (of.after_relocation > r.first) r.first = of.after_relocation < r.end ? of.after_relocation : r.end;
    if (r.first >= r.end) continue;
    r = {r.first / page * page, (r.end + page - 1) / page * page};
    if (kept != 0 && of.writable[kept - 1].end >= r.first) {
      of.writable[kept - 1].end = r.end;
    } else {
      of.writable[kept++] = r;
    }
  }
  of.writable_count = kept;
}

int look_at_module(dl_phdr_info* info, std::size_t, void*) {
  if (g_count == g_modules.size()) {
    g_too_many = true;
    return 1;
  }
  g_modules[g_count++] = describe(*info);
  return 0;
}

/// What libquire needs itself stays private with it, wherever that lies.
void leave_out_needed_by(const module& of, int depth) noexcept {
  const auto* const texts = of.entry(DT_STRTAB);
  if (texts == nullptr || depth == 0) return;
  for (const ElfW(Dyn)* d = of.dynamic; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag != DT_NEEDED) continue;
    const char* const name = reinterpret_cast<const char*>(texts->d_un.d_ptr) + d->d_un.d_val;
    for (std::size_t i = 1; i < g_count; ++i) {
      module& other = g_modules[i];
      if (other.known || strcmp(last_part(other.name), last_part(name)) != 0) continue;
      other.known = true;
      other.programs = false;
      leave_out_needed_by(other, depth - 1);
    }
  }
}

/// Its regions run on all nodes, and so its data has to be there, wherever the library lies.
bool needs_openmp(const module& of) noexcept {
  const auto* const texts = of.entry(DT_STRTAB);
  for (const ElfW(Dyn)* d = of.dynamic; texts != nullptr && d->d_tag != DT_NULL; ++d) {
    if (d->d_tag != DT_NEEDED) continue;
    const char* const name = reinterpret_cast<const char*>(texts->d_un.d_ptr) + d->d_un.d_val;
    if (begins(name, "libgomp.so") || begins(name, "libomp.so") || begins(name, "libiomp5.so")) return true;
  }
  return false;
}

bool defines(const module& of, const char* name) noexcept { return dynamic_symbols{of.dynamic, of.base}.defines(name); }

bool is_in_list(const char* list, const char* file) noexcept {
  const std::size_t length = strlen(file);
  for (const char* at = strstr(list, file); at != nullptr; at = strstr(at + 1, file)) {
    const bool begins = at == list || strchr("/: ", at[-1]) != nullptr;
    if (begins && (at[length] == 0 || strchr(": ", at[length]) != nullptr)) return true;
  }
  return false;
}

/// It stands between the program and libc, and so between Quire and libc: Quire must not fault on its data. Not where
/// it has a heap.
bool is_before_libc(const module& m) noexcept {
  if (m.dynamic == nullptr || defines(m, "malloc")) return false;
  return dynamic_symbols{m.dynamic, m.base}.any_defined([](const char* name, const void*) {
    if (name[0] == '_') return false;
    for (std::size_t i = 1; i < g_count; ++i) {
      const char* const file = last_part(g_modules[i].name);
      if ((begins(file, "libquire_omp.so") || begins(file, "libc.so")) && defines(g_modules[i], name)) return true;
    }
    return false;
  });
}

}  // namespace

ElfW(Dyn) * module::entry(std::int64_t tag) const noexcept {
  for (ElfW(Dyn)* d = dynamic; d != nullptr && d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == tag) return d;
  }
  return nullptr;
}

module describe(const dl_phdr_info& info) noexcept {
  module of;
  of.name = info.dlpi_name;
  of.base = info.dlpi_addr;
  of.thread_data_alignment = 1;
  of.runs_stack = true;  // unless it says that it has none
  for (const ElfW(Phdr)* h = info.dlpi_phdr; h != info.dlpi_phdr + info.dlpi_phnum; ++h) look_at(of, *h);
  keep_whole_pages(of);
  const char* const file = last_part(of.name);
  of.known = of.name[0] != 0 &&
             (sites::is_of_a_compiler(file) || sites::is_loaded_by_quire(file) || sites::is_of_an_allocator(file));
  of.programs = of.name[0] == 0 || is_programs_own(of.name);
  return of;
}

bool is_programs_own(const char* path) noexcept {
  const char* const file = last_part(path);
  return !sites::is_in_system_folder(path) && !sites::is_of_a_compiler(file) && !sites::is_loaded_by_quire(file) &&
         !sites::is_of_an_allocator(file);
}

std::span<module> modules() noexcept {
  if (g_count == 0) {
    ::dl_iterate_phdr(look_at_module, nullptr);
    for (std::size_t i = 1; i < g_count; ++i) {
      module& m = g_modules[i];
      m.programs = m.programs || (!m.known && needs_openmp(m));
    }
    constexpr int deepest = 16;
    for (std::size_t i = 1; i < g_count; ++i) {
      if (begins(last_part(g_modules[i].name), "libquire")) leave_out_needed_by(g_modules[i], deepest);
    }
  }
  if (g_too_many) fail("the program has more libraries than this version can look at", QUIRE_LIMIT);
  return {g_modules.data(), g_count};
}

void leave_out_preloaded(const char* const* environment) noexcept {
  constexpr const char* begin = "QUIRE_EXEC_LD_PRELOAD=";
  const char* list = "";
  for (; *environment != nullptr; ++environment) {
    if (begins(*environment, begin)) list = *environment + strlen(begin);
  }
  for (module& m : modules()) {
    if (m.programs && m.name[0] != 0 && is_in_list(list, last_part(m.name)) && is_before_libc(m)) m.programs = false;
  }
}

const module* own_module() noexcept {
  const auto here = reinterpret_cast<std::uint64_t>(&own_module);
  for (const module& m : modules()) {
    if (here >= m.code_first && here < m.code_end) return &m;
  }
  return nullptr;
}

bool placed_by_exec() noexcept { return file_of_exec()[0] != 0; }

const char* own_file() noexcept { return placed_by_exec() ? file_of_exec() : "/proc/self/exe"; }

}  // namespace quire::program
