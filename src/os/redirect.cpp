// SPDX-License-Identifier: BSD-3-Clause
// Exchanging entries of a library's global offset table; see redirect.hpp. The ELF specification, and that of each
// processor, say what stands there.
#include "os/redirect.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

namespace quire::os {
namespace {

#if defined(__x86_64__)
constexpr auto jump_slot = R_X86_64_JUMP_SLOT, global_data = R_X86_64_GLOB_DAT, pointer = R_X86_64_64;
#elif defined(__aarch64__)
constexpr auto jump_slot = R_AARCH64_JUMP_SLOT, global_data = R_AARCH64_GLOB_DAT, pointer = R_AARCH64_ABS64;
#else
#error "which relocations call a function, on this processor?"
#endif

struct tables {
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  std::span<const Elf64_Rela> calls, data;
};

tables tables_of(const dl_phdr_info& library, const Elf64_Dyn* entry) noexcept {
  // glibc has put addresses in place of offsets, musl has not.
  const auto at = [&](Elf64_Addr value) {
    return reinterpret_cast<const char*>(value < library.dlpi_addr ? value + library.dlpi_addr : value);
  };
  tables found;
  const char *calls = nullptr, *data = nullptr;
  std::size_t calls_bytes = 0, data_bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        found.symbols = reinterpret_cast<const Elf64_Sym*>(at(entry->d_un.d_ptr));
        break;
      case DT_STRTAB:
        found.names = at(entry->d_un.d_ptr);
        break;
      case DT_JMPREL:
        calls = at(entry->d_un.d_ptr);
        break;
      case DT_PLTRELSZ:
        calls_bytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        data = at(entry->d_un.d_ptr);
        break;
      case DT_RELASZ:
        data_bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  if (calls != nullptr) found.calls = {reinterpret_cast<const Elf64_Rela*>(calls), calls_bytes / sizeof(Elf64_Rela)};
  if (data != nullptr) found.data = {reinterpret_cast<const Elf64_Rela*>(data), data_bytes / sizeof(Elf64_Rela)};
  return found;
}

/// The table may have been made read-only when the library was loaded, and is then again.
bool exchange(std::uintptr_t slot, void* instead, bool read_only) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  void* const first = reinterpret_cast<void*>(slot / page * page);
  if (read_only && ::mprotect(first, page, PROT_READ | PROT_WRITE) != 0) return false;
  std::atomic_ref(*reinterpret_cast<void**>(slot)).store(instead);
  if (read_only) (void)::mprotect(first, page, PROT_READ);
  return true;
}

/// Whether an address lies in what was loaded of a library.
bool contains(const dl_phdr_info& library, std::uintptr_t address) noexcept {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& part = library.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && address - library.dlpi_addr - part.p_vaddr < part.p_memsz) return true;
  }
  return false;
}

bool is_read_only(const dl_phdr_info& library, std::uintptr_t slot) noexcept {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& part = library.dlpi_phdr[i];
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t from = library.dlpi_addr + part.p_vaddr, to = (from + part.p_memsz) / page * page;
    if (part.p_type == PT_GNU_RELRO && slot >= from && slot < to) return true;
  }
  return false;
}

tables tables_of(const dl_phdr_info& library) noexcept {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    return tables_of(library, reinterpret_cast<const Elf64_Dyn*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr));
  }
  return {};
}

/// Calls `use(name, slot, symbol)` for each entry of a library through which it calls another one, or has the address
/// of its function.
template <class F>
void for_each_slot(const dl_phdr_info& library, const tables& of, F&& use) {
  if (of.symbols == nullptr || of.names == nullptr) return;
  for (const auto part : {of.calls, of.data}) {
    for (const Elf64_Rela& entry : part) {
      const auto kind = ELF64_R_TYPE(entry.r_info);
      if (kind != jump_slot && kind != global_data && (kind != pointer || entry.r_addend != 0)) continue;
      const Elf64_Sym& symbol = of.symbols[ELF64_R_SYM(entry.r_info)];
      use(of.names + symbol.st_name, library.dlpi_addr + entry.r_offset, symbol);
    }
  }
}

struct request {
  const char* library;
  std::span<const redirection> calls;
  unsigned found;
};

int look_at(dl_phdr_info* library, std::size_t, void* asked) {
  auto& what = *static_cast<request*>(asked);
  const char* const slash = std::strrchr(library->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : library->dlpi_name;
  if (std::strncmp(name, what.library, std::strlen(what.library)) != 0) return 0;
  const tables of = tables_of(*library);
  for (const redirection& call : what.calls) {
    bool found = false;
    for_each_slot(*library, of, [&](const char* function, std::uintptr_t slot, const Elf64_Sym&) {
      if (std::strcmp(function, call.function) != 0) return;
      found = exchange(slot, call.instead, is_read_only(*library, slot)) || found;
    });
    what.found += found ? 1 : 0;
  }
  return 0;
}

struct request_of_all {
  std::span<const replacement> calls;
  std::uintptr_t not_here;
  looked_at& before;
};

void exchange_if_old(const dl_phdr_info& library, const looked_at::entry& e, const replacement& call) noexcept {
  void* const now = std::atomic_ref(*reinterpret_cast<void**>(e.slot)).load();
  const bool unbound = e.undefined && contains(library, reinterpret_cast<std::uintptr_t>(now));
  if (now == call.old || (unbound && call.first)) (void)exchange(e.slot, call.instead, is_read_only(library, e.slot));
}

int look_at_any(dl_phdr_info* library, std::size_t, void* asked) {
  auto& what = *static_cast<request_of_all*>(asked);
  if (what.calls.empty() || contains(*library, what.not_here)) return 0;
  if (const auto known = what.before.entries_of(library->dlpi_phdr, library->dlpi_subs)) {
    for (const auto& e : *known) exchange_if_old(*library, e, what.calls[e.call]);
    return 0;
  }
  for_each_slot(*library, tables_of(*library), [&](const char* function, std::uintptr_t slot, const Elf64_Sym& symbol) {
    // Most are C++'s, which begin with "_Z" and come before all calls of libc.
    if (std::strcmp(function, what.calls.front().function) < 0) return;
    const auto call =
        std::lower_bound(what.calls.begin(), what.calls.end(), function,
                         [](const replacement& a, const char* b) { return std::strcmp(a.function, b) < 0; });
    if (call == what.calls.end() || std::strcmp(call->function, function) != 0) return;
    const looked_at::entry e{slot, static_cast<std::uint32_t>(call - what.calls.begin()), symbol.st_shndx == SHN_UNDEF};
    what.before.add(e);
    exchange_if_old(*library, e, *call);
  });
  what.before.finish(library->dlpi_phdr);
  return 0;
}

}  // namespace

unsigned redirect(const char* library, std::span<const redirection> calls) noexcept {
  request asked{library, calls, 0};
  ::dl_iterate_phdr(&look_at, &asked);
  return asked.found;
}

std::optional<std::span<const looked_at::entry>> looked_at::entries_of(const void* library,
                                                                       unsigned long long unloaded) noexcept {
  if (std::exchange(unloaded_, unloaded) != unloaded) libraries_count_ = entries_count_ = 0;
  added_ = entries_count_;
  const std::span all(libraries_.data(), libraries_count_);
  const auto found = std::ranges::find(all, library, &of_library::headers);
  if (found == all.end()) return std::nullopt;
  return std::span<const entry>(entries_).subspan(found->first, found->count);
}

void looked_at::add(const entry& e) noexcept {
  if (added_ < entries_.size()) entries_[added_] = e;
  ++added_;
}

void looked_at::finish(const void* library) noexcept {
  if (libraries_count_ == libraries_.size() || added_ > entries_.size()) return;
  libraries_[libraries_count_++] = {library, entries_count_, added_ - entries_count_};
  entries_count_ = added_;
}

void redirect_everywhere(std::span<const replacement> calls, const void* not_here, looked_at& before) noexcept {
  request_of_all asked{calls, reinterpret_cast<std::uintptr_t>(not_here), before};
  ::dl_iterate_phdr(&look_at_any, &asked);
}

}  // namespace quire::os
