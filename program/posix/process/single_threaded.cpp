// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/process/single_threaded.hpp"

#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

#include <cstdint>

#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"
#include "program/process/modules.hpp"

namespace quire::program {
namespace {

constexpr std::uint64_t code_page = 4096;
constexpr const char* name = "__libc_single_threaded";
/// There are always threads of Quire.
char g_never = 0;

/// A word of a table that the dynamic linker may have made read-only.
void set(std::uint64_t* at, std::uint64_t to, bool read_only) noexcept {
  void* const first = reinterpret_cast<void*>(reinterpret_cast<std::uint64_t>(at) / code_page * code_page);
  if (read_only && ::mprotect(first, code_page, PROT_READ | PROT_WRITE) != 0) return;
  *at = to;
  if (read_only) (void)::mprotect(first, code_page, PROT_READ);
}

void point_to_private(const module& of) noexcept {
  const auto* const relocations = reinterpret_cast<const ElfW(Rela)*>(value(of, DT_RELA));
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(value(of, DT_SYMTAB));
  const auto* const texts = reinterpret_cast<const char*>(value(of, DT_STRTAB));
  if (relocations == nullptr || symbols == nullptr || texts == nullptr || value(of, DT_RELA) < of.base) return;
  for (std::uint64_t i = 0; i < value(of, DT_RELASZ) / sizeof(ElfW(Rela)); ++i) {
    const ElfW(Rela)& r = relocations[i];
    const auto kind = ELF64_R_TYPE(r.r_info);
    if ((kind != R_X86_64_GLOB_DAT && kind != R_X86_64_64) ||
        strcmp(texts + symbols[ELF64_R_SYM(r.r_info)].st_name, name) != 0)
      continue;
    const std::uint64_t at = of.base + r.r_offset;
    set(reinterpret_cast<std::uint64_t*>(at), reinterpret_cast<std::uint64_t>(&g_never), at < of.after_relocation);
  }
}

/// With its first thread libc installs the handler by which setuid(2) and its like reach all threads; the variable
/// tells it which is the first.
void make_first_thread() noexcept {
  pthread_t first{};
  if (__libc_single_threaded == 0) return;
  const int error = QUIRE_NEXT(pthread_create)(
      &first, nullptr, [](void* at) { return at; }, nullptr);
  if (error != 0) fail_for_thread(error);
  (void)QUIRE_NEXT(pthread_join)(first, nullptr);
}

}  // namespace

void separate_single_threaded() noexcept {
  make_first_thread();
  __libc_single_threaded = 0;  // the executable's copy too
  for (const module& m : modules()) {
    if (!m.programs && m.dynamic != nullptr) point_to_private(m);
  }
}

}  // namespace quire::program
