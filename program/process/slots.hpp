// SPDX-License-Identifier: BSD-3-Clause
// The tables through which a module calls others: the dynamic linker has filled them (LD_BIND_NOW). Before there are
// threads. Nothing of libc but texts, as the program may have functions of such names itself.
#pragma once

#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdint>

#include "os/raw_call.hpp"
#include "program/process/modules.hpp"
#include "program/process/symbols.hpp"

namespace quire::program {

/// Slots are read-only once the library is loaded, but for those of a library that is bound as it runs, whose variables
/// may be in the same page.
inline void write_slot(const module& of, std::uint64_t at, const void* to) noexcept {
  constexpr std::uint64_t page = 4096;
  const auto first = static_cast<long>(at / page * page);
  const auto all = of.data();
  const bool is_written =
      std::any_of(all.begin(), all.end(), [at](const data_range& r) { return at >= r.first && at < r.end; });
  if (!is_written && os::raw_call(SYS_mprotect, first, page, PROT_READ | PROT_WRITE) != 0) return;
  *reinterpret_cast<const void**>(at) = to;
  if (!is_written) (void)os::raw_call(SYS_mprotect, first, page, PROT_READ);
}

/// Calls instead(name, now) for each slot of a symbol, and writes what that gives, if it is not null.
template <class Instead>
void for_each_slot(const module& of, const Instead& instead) noexcept {
  const dynamic_symbols names{of.dynamic, of.base};
  const std::int64_t tables[][2] = {{DT_JMPREL, DT_PLTRELSZ}, {DT_RELA, DT_RELASZ}};
  for (const auto& [table, bytes] : tables) {
    const auto* const entry = of.entry(table);
    if (entry == nullptr) continue;
    const auto* const all = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
    for (std::uint64_t i = 0; i < value(of, bytes) / sizeof(ElfW(Rela)); ++i) {
      const auto kind = ELF64_R_TYPE(all[i].r_info);
      if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) continue;
      const std::uint64_t at = of.base + all[i].r_offset;
      const char* const name = names.name(static_cast<std::uint32_t>(ELF64_R_SYM(all[i].r_info)));
      const void* const to = instead(name, *reinterpret_cast<const void* const*>(at));
      if (to != nullptr) write_slot(of, at, to);
    }
  }
}

}  // namespace quire::program
