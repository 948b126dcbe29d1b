// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/program.hpp"

#include <link.h>

#include <cstring>
#include <string_view>

namespace quire::program {
namespace {

struct module_texts {
  const ElfW(Dyn) * dynamic;
  std::string_view all;  ///< names of functions that it needs are among these
};
/// Return whether to go on.
using module_function = bool (*)(const module_texts& m, bool& found);

int look(dl_phdr_info* module, module_function call, bool& found) noexcept {
  if (module->dlpi_name != nullptr && std::strstr(module->dlpi_name, "libquire") != nullptr) return 0;
  const ElfW(Dyn)* dynamic = nullptr;
  for (const ElfW(Phdr)* h = module->dlpi_phdr; h != module->dlpi_phdr + module->dlpi_phnum; ++h) {
    if (h->p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(module->dlpi_addr + h->p_vaddr);
  }
  const char* texts = nullptr;
  std::size_t bytes = 0;
  for (const ElfW(Dyn)* d = dynamic; d != nullptr && d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_STRTAB) texts = reinterpret_cast<const char*>(d->d_un.d_ptr);
    if (d->d_tag == DT_STRSZ) bytes = d->d_un.d_val;
  }
  // The vDSO has addresses that nobody has relocated.
  if (texts == nullptr || reinterpret_cast<std::uintptr_t>(texts) < module->dlpi_addr) return 0;
  return call({dynamic, {texts, bytes}}, found) ? 0 : 1;
}

/// Modules in the order of loading.
bool ask_modules(module_function call) noexcept {
  struct question {
    module_function call;
    bool found;
  } q{call, false};
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* at) {
        auto& now = *static_cast<question*>(at);
        return look(module, now.call, now.found);
      },
      &q);
  return q.found;
}

}  // namespace

bool program_has_tasks() noexcept {
  return ask_modules([](const module_texts& m, bool& found) {
    for (const std::string_view name : {"GOMP_task", "__kmpc_omp_task"})
      found |= m.all.find(name) != std::string_view::npos;
    return !found;
  });
}

bool program_is_for_llvm() noexcept {
  return ask_modules([](const module_texts& m, bool& found) {
    for (const ElfW(Dyn)* d = m.dynamic; d->d_tag != DT_NULL; ++d) {
      if (d->d_tag != DT_NEEDED) continue;
      const std::string_view library = m.all.data() + d->d_un.d_val;
      found = library.starts_with("libomp.so") || library.starts_with("libiomp5.so");
      if (found || library.starts_with("libgomp.so")) return false;
    }
    return true;
  });
}

}  // namespace quire::program
