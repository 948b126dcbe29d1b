// SPDX-License-Identifier: BSD-3-Clause
// Where a program has new and delete of its own, Quire's libraries get others (memory/operators.hpp), by the tables
// through which libraries call one another. libstdc++ serves both, and gives back what both have made.
#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "openmp/memory/operators.hpp"
#include "openmp/sites/known_libraries.hpp"
#include "openmp/start/modules.hpp"
#include "openmp/start/symbols.hpp"

namespace quire::openmp {
namespace {

/// Slots are read-only once the library is loaded, but for those of a library that is bound as it runs, whose variables
/// may be in the same page.
void write_slot(const module& of, std::uint64_t at, const void* to) noexcept {
  constexpr std::uint64_t page = 4096;
  void* const first = reinterpret_cast<void*>(at / page * page);
  const auto all = of.data();
  const bool is_written =
      std::any_of(all.begin(), all.end(), [at](const data_range& r) { return at >= r.first && at < r.end; });
  if (!is_written && ::mprotect(first, page, PROT_READ | PROT_WRITE) != 0) return;
  *reinterpret_cast<const void**>(at) = to;
  if (!is_written) (void)::mprotect(first, page, PROT_READ);
}

void point_to_marked(const module& of, std::int64_t table, std::int64_t bytes, bool of_quire) noexcept {
  const auto* const first = of.entry(table);
  if (first == nullptr) return;
  const dynamic_symbols names{of.dynamic, of.base};
  const auto* const all = reinterpret_cast<const ElfW(Rela)*>(first->d_un.d_ptr);
  for (std::uint64_t i = 0; i < value(of, bytes) / sizeof(ElfW(Rela)); ++i) {
    const auto kind = ELF64_R_TYPE(all[i].r_info);
    if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) continue;
    const char* const name = names.name(static_cast<std::uint32_t>(ELF64_R_SYM(all[i].r_info)));
    if (const void* const to = marked_operator(name, of_quire); to != nullptr)
      write_slot(of, of.base + all[i].r_offset, to);
  }
}

template <class Function>
void note_operator(Function*& into, const char* wanted, const char* name, const void* at) noexcept {
  if (into == nullptr && strcmp(name, wanted) == 0)
    into = reinterpret_cast<Function*>(reinterpret_cast<std::uintptr_t>(at));
}

/// The first of each, as the dynamic linker would find it.
void find_programs_operators() noexcept {
  programs_operators& p = g_programs;
  for (const module& m : modules()) {
    if (!m.programs) continue;
    (void)dynamic_symbols{m.dynamic, m.base}.any_defined([&p](const char* name, const void* at) {
      note_operator(p.make, "_Znwm", name, at);
      note_operator(p.make_array, "_Znam", name, at);
      note_operator(p.make_aligned, "_ZnwmSt11align_val_t", name, at);
      note_operator(p.make_aligned_array, "_ZnamSt11align_val_t", name, at);
      note_operator(p.drop, "_ZdlPv", name, at);
      note_operator(p.drop_array, "_ZdaPv", name, at);
      note_operator(p.drop_aligned, "_ZdlPvSt11align_val_t", name, at);
      note_operator(p.drop_aligned_array, "_ZdaPvSt11align_val_t", name, at);
      return false;
    });
  }
}

/// Before other constructors: nothing is made by one and dropped by the other.
[[gnu::constructor(101)]] void separate_operators() noexcept {
  find_programs_operators();
  if (!g_programs.any()) return;
  for (const module& m : modules()) {
    const char* const file = sites::last_part(m.name);
    const bool quires = sites::begins(file, "libquire");
    if (!quires && !sites::begins(file, "libstdc++")) continue;
    point_to_marked(m, DT_JMPREL, DT_PLTRELSZ, quires);
    point_to_marked(m, DT_RELA, DT_RELASZ, quires);
  }
}

}  // namespace
}  // namespace quire::openmp
