// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/code_span.hpp"

#include <link.h>

namespace quire::program {

span code_around(const void* symbol) noexcept {
  struct search {
    std::uintptr_t at;
    span found{};
  } s{reinterpret_cast<std::uintptr_t>(symbol)};
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* argument) {
        auto& in = *static_cast<search*>(argument);
        for (const ElfW(Phdr)* h = module->dlpi_phdr; h != module->dlpi_phdr + module->dlpi_phnum; ++h) {
          const span one{module->dlpi_addr + h->p_vaddr, h->p_memsz};
          if (h->p_type != PT_LOAD || (h->p_flags & PF_X) == 0 || !one.has(reinterpret_cast<void*>(in.at))) continue;
          in.found = one;
          return 1;
        }
        return 0;
      },
      &s);
  return s.found;
}

}  // namespace quire::program
