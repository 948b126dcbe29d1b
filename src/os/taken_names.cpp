// SPDX-License-Identifier: BSD-3-Clause
#include "os/taken_names.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace quire::os {
namespace {

/// What the dynamic linker finds in a module.
class exported_functions {
 public:
  explicit exported_functions(const dl_phdr_info& module) noexcept {
    for (const ElfW(Phdr)* h = module.dlpi_phdr; h != module.dlpi_phdr + module.dlpi_phnum; ++h) {
      if (h->p_type == PT_DYNAMIC)
        look_at(reinterpret_cast<const ElfW(Dyn)*>(module.dlpi_addr + h->p_vaddr), module.dlpi_addr);
    }
  }
  /// Whether `is(name)` holds for one.
  template <class Is>
  [[nodiscard]] bool any(const Is& is) const noexcept {
    if (hash_ == nullptr || symbols_ == nullptr || names_ == nullptr) return false;
    const std::uint32_t buckets = hash_[0], first = hash_[1], words = hash_[2];
    const std::uint32_t* const bucket = hash_ + 4 + 2 * words;  // filter words have 64 bits
    const std::uint32_t* const chain = bucket + buckets;
    for (std::uint32_t b = 0; b < buckets; ++b) {
      for (std::uint32_t i = bucket[b]; i != 0; i = (chain[i - first] & 1) != 0 ? 0 : i + 1) {
        if (ELF64_ST_TYPE(symbols_[i].st_info) == STT_FUNC && is(names_ + symbols_[i].st_name)) return true;
      }
    }
    return false;
  }

 private:
  /// The linker has written addresses, but where the section is read-only.
  void look_at(const ElfW(Dyn) * d, std::uint64_t base) noexcept {
    for (; d->d_tag != DT_NULL; ++d) {
      const std::uint64_t at = d->d_un.d_ptr < base ? base + d->d_un.d_ptr : d->d_un.d_ptr;
      if (d->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(at);
      if (d->d_tag == DT_STRTAB) names_ = reinterpret_cast<const char*>(at);
      if (d->d_tag == DT_GNU_HASH) hash_ = reinterpret_cast<const std::uint32_t*>(at);
    }
  }

  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  const std::uint32_t* hash_ = nullptr;
};

bool is_quires_or_systems(std::string_view path) noexcept {
  return path.starts_with("/lib") || path.starts_with("/usr/lib") || path.starts_with("linux-vdso") ||
         path.substr(path.rfind('/') + 1).starts_with("libquire") || path.find("/quire/") != path.npos ||
         path.find("/stand_ins/") != path.npos;
}

int find_taken(dl_phdr_info* module, std::size_t, void* libc) noexcept {
  if (is_quires_or_systems(module->dlpi_name)) return 0;
  const exported_functions all(*module);
  if (all.any([](const char* name) { return std::strcmp(name, "malloc") == 0; })) return 0;
  return all.any([libc](const char* name) { return name[0] != '_' && ::dlsym(libc, name) != nullptr; }) ? 1 : 0;
}

/// Its names are the sanitizers' own, which lead to libc.
bool has_sanitizer() noexcept {
  for (const char* const name : {"__asan_init", "__tsan_init", "__msan_init"}) {
    if (::dlsym(RTLD_DEFAULT, name) != nullptr) return true;
  }
  return false;
}

}  // namespace

bool are_names_of_libc_taken() noexcept {
  if (has_sanitizer()) return false;
  void* const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return libc != nullptr && ::dl_iterate_phdr(find_taken, libc) != 0;
}

}  // namespace quire::os
