// SPDX-License-Identifier: BSD-3-Clause
#include "code/attach.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "code/elf_file.hpp"
#include "os/memory.hpp"

// Of the compiler's run-time library (libgcc).
extern "C" void __register_frame(void* begin);
extern "C" void __deregister_frame(void* begin);

namespace quire::code {

bool program_names::open(const char* library) {
  void* const found = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);  // stays loaded: addresses of it are in the module
  if (found == nullptr) return false;
  for (unsigned i = 0; i < count_; ++i) {
    if (opened_[i] == found) return true;
  }
  if (count_ == most) return false;
  opened_[count_++] = found;
  return true;
}

void* program_names::find(const char* name) {
  if (void* const found = own_ != nullptr ? own_(name) : nullptr; found != nullptr) return found;
  if (void* const found = ::dlsym(RTLD_DEFAULT, name); found != nullptr) return found;
  for (unsigned i = 0; i < count_; ++i) {
    if (void* const found = ::dlsym(opened_[i], name); found != nullptr) return found;
  }
  return nullptr;
}

namespace {

/// The symbol that begins exactly there, as the dynamic linker knows it, or null.
const ElfW(Sym) * symbol_at(const void* address) noexcept {
  Dl_info about{};
  void* symbol = nullptr;
  if (::dladdr1(address, &about, &symbol, RTLD_DL_SYMENT) == 0 || about.dli_saddr != address) return nullptr;
  return static_cast<const ElfW(Sym)*>(symbol);
}

bool is_function(unsigned type) noexcept { return type == STT_FUNC || type == STT_GNU_IFUNC; }

}  // namespace

import_kind kind_of(const void* found, unsigned type) noexcept {
  if (found == nullptr) return import_kind::absent;
  if (is_function(type)) return import_kind::function;
  if (type == STT_OBJECT) return import_kind::object;
  // Constants may lie in a segment that is run: of gold, and with -z noseparate-code. So the segment counts only where
  // no symbol says it.
  if (const auto* const symbol = symbol_at(found); symbol != nullptr) {
    const unsigned own = ELF64_ST_TYPE(symbol->st_info);
    if (is_function(own)) return import_kind::function;
    if (own == STT_OBJECT) return import_kind::object;
  }
  struct search {
    std::uint64_t address;
    bool runs = false;
  } s{reinterpret_cast<std::uint64_t>(found)};
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* data) {
        auto& looked = *static_cast<search*>(data);
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const auto& h = module->dlpi_phdr[i];
          if (h.p_type == PT_LOAD && (h.p_flags & PF_X) != 0 &&
              looked.address - (module->dlpi_addr + h.p_vaddr) < h.p_memsz)
            looked.runs = true;
        }
        return looked.runs ? 1 : 0;
      },
      &s);
  return s.runs ? import_kind::function : import_kind::object;
}

std::uint32_t bytes_of(const void* found) noexcept {
  const auto* const symbol = symbol_at(found);
  return symbol != nullptr ? static_cast<std::uint32_t>(std::min<ElfW(Xword)>(symbol->st_size, UINT32_MAX)) : 0;
}

namespace {

void* at(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

void give_back(const module_record& m) noexcept {
  if (m.private_bytes != 0) (void)!os::reserve_again(at(m.private_at), m.private_bytes);
  if (m.slots_bytes != 0) (void)!os::reserve_again(at(m.slots), m.slots_bytes);
}

lacking resolve(const module_record& m, names& from) {
  using what = lacking::what;
  const auto* const needed = m.rows<std::uint32_t>(m.needed);
  for (std::uint32_t i = 0; i < m.needed.count; ++i) {
    if (!from.open(m.text(needed[i]))) return {what::library, i};
  }
  const auto* const imports = m.rows<import_row>(m.imports);
  const auto* const patches = m.rows<patch_row>(m.patches);
  for (std::uint64_t i = 0; i < m.patches.count; ++i) {
    const patch_row& p = patches[i];
    void* const found = from.find(m.text(imports[p.import].name));
    if (found == nullptr) return {what::import, p.import};
    if (p.copied_bytes != 0) {
      if (bytes_of(found) != p.copied_bytes) return {what::import, p.import};
      std::memcpy(at(p.where), found, p.copied_bytes);
      continue;
    }
    const std::uint64_t value = reinterpret_cast<std::uint64_t>(found) + static_cast<std::uint64_t>(p.addend);
    std::memcpy(at(p.where), &value, sizeof value);
  }
  return {};
}

int close(const module_record& m) noexcept {
  if (const int error = m.private_bytes != 0 ? os::protect(at(m.private_at), m.private_bytes, PROT_READ) : 0;
      error != 0)
    return error;
  return m.slots_bytes != 0 ? os::protect(at(m.slots), m.slots_bytes, PROT_READ) : 0;
}

}  // namespace

lacking attach(const module_record& m, names& from) {
  using what = lacking::what;
  const auto failed = [&](lacking why) {
    give_back(m);
    return why;
  };
  const auto no_memory = [&](int error) { return failed({what::memory, static_cast<std::uint32_t>(error)}); };
  if (const int error = m.private_bytes != 0 ? os::map_private(at(m.private_at), m.private_bytes) : 0; error != 0)
    return no_memory(error);
  if (const int error = m.slots_bytes != 0 ? os::map_private(at(m.slots), m.slots_bytes) : 0; error != 0)
    return no_memory(error);
  std::memcpy(at(m.private_at), reinterpret_cast<const std::byte*>(&m) + m.private_content, m.private_bytes);
  if (const lacking why = resolve(m, from); why.kind != what::nothing) return failed(why);
  if (const int error = close(m); error != 0) return no_memory(error);
  return {};
}

void detach(const module_record& m) noexcept { give_back(m); }

namespace {

/// Tables that the unwinder knows, for a child of fork(2): it may have been made while another thread changed this, and
/// takes no lock.
struct known_tables {
  std::atomic<std::uint64_t> first{0}, bytes{0};
} g_known[4096];  // more modules than a job can have

void hide_tables_in_child() noexcept {
  for (const known_tables& one : g_known) {
    const std::uint64_t first = page_down(one.first.load()), end = page_up(one.first.load() + one.bytes.load());
    if (first != 0) (void)!os::map_private(at(first), end - first);
  }
}

/// The place of these tables, or a free one for 0.
known_tables* place_of(std::uint64_t first) noexcept {
  for (known_tables& one : g_known) {
    if (one.first.load() == first) return &one;
  }
  return nullptr;
}

}  // namespace

void add_unwind_tables(const module_record& m) noexcept {
  if (m.unwind_tables == 0) return;
  static const int once = ::pthread_atfork(nullptr, nullptr, hide_tables_in_child);
  (void)once;
  if (known_tables* const place = place_of(0); place != nullptr) {
    place->bytes.store(m.unwind_bytes);
    place->first.store(m.unwind_tables);
  }
  __register_frame(at(m.unwind_tables));
}

void remove_unwind_tables(const module_record& m) noexcept {
  if (m.unwind_tables == 0) return;
  __deregister_frame(at(m.unwind_tables));
  if (known_tables* const place = place_of(m.unwind_tables); place != nullptr) place->first.store(0);
}

}  // namespace quire::code
