// Exchanging entries of a library's global offset table; see redirect.hpp. The ELF specification, and that of each
// processor, say what stands there.
#include "transport/ucx/redirect.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace quire::transport::ucx {
namespace {

#if defined(__x86_64__)
constexpr auto jump_slot = R_X86_64_JUMP_SLOT, global_data = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr auto jump_slot = R_AARCH64_JUMP_SLOT, global_data = R_AARCH64_GLOB_DAT;
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

struct request {
  const char* library;
  std::span<const redirection> calls;
  unsigned found;
};

bool is_read_only(const dl_phdr_info& library, std::uintptr_t slot) noexcept {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& part = library.dlpi_phdr[i];
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t from = library.dlpi_addr + part.p_vaddr, to = (from + part.p_memsz) / page * page;
    if (part.p_type == PT_GNU_RELRO && slot >= from && slot < to) return true;
  }
  return false;
}

int look_at(dl_phdr_info* library, std::size_t, void* asked) {
  auto& what = *static_cast<request*>(asked);
  const char* const slash = std::strrchr(library->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : library->dlpi_name;
  if (std::strncmp(name, what.library, std::strlen(what.library)) != 0) return 0;
  const Elf64_Dyn* dynamic = nullptr;
  for (int i = 0; i < library->dlpi_phnum; ++i)
    if (library->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const Elf64_Dyn*>(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
  if (dynamic == nullptr) return 0;
  const tables of = tables_of(*library, dynamic);
  if (of.symbols == nullptr || of.names == nullptr) return 0;
  for (const redirection& call : what.calls) {
    bool found = false;
    for (const auto part : {of.calls, of.data})
      for (const Elf64_Rela& entry : part) {
        const auto kind = ELF64_R_TYPE(entry.r_info);
        if (kind != jump_slot && kind != global_data) continue;
        if (std::strcmp(of.names + of.symbols[ELF64_R_SYM(entry.r_info)].st_name, call.function) != 0) continue;
        const std::uintptr_t slot = library->dlpi_addr + entry.r_offset;
        found = exchange(slot, call.instead, is_read_only(*library, slot)) || found;
      }
    what.found += found ? 1 : 0;
  }
  return 0;
}

}  // namespace

unsigned redirect(const char* library, std::span<const redirection> calls) noexcept {
  request asked{library, calls, 0};
  ::dl_iterate_phdr(&look_at, &asked);
  return asked.found;
}

}  // namespace quire::transport::ucx
