// SPDX-License-Identifier: BSD-3-Clause
// A program may have functions with names of libc's (read, send, poll), whatever they do. libc itself does not call
// them. Nor must Quire, or what it stands on: where their tables lead to the program, they are made to lead past it.
#include "openmp/start/own_names.hpp"

#include <dlfcn.h>
#include <string.h>

#include "openmp/sites/known_libraries.hpp"
#include "openmp/start/modules.hpp"
#include "openmp/start/slots.hpp"

namespace quire::openmp {
namespace {

bool is_programs_code(const void* at) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(at);
  for (const module& m : modules()) {
    if (m.programs && address >= m.code_first && address < m.code_end) return true;
  }
  return false;
}

/// What would be found if the program had no such function; null: nobody has.
const void* past_program(const char* name) noexcept {
  const void* found = nullptr;
  for (const module& m : modules()) {
    if (m.dynamic == nullptr || !sites::begins(sites::last_part(m.name), "libquire")) continue;
    (void)dynamic_symbols{m.dynamic, m.base}.any_defined([&](const char* one, const void* at) {
      if (strcmp(one, name) != 0) return false;
      found = at;
      return true;
    });
    if (found != nullptr) return found;
  }
  // dlopen(3) of libc, for a handle, comes too early.
  const void* const next = ::dlsym(RTLD_NEXT, name);
  return is_programs_code(next) ? nullptr : next;
}

/// libstdc++ reads files for Quire.
bool works_for_quire(const module& m) noexcept {
  const char* const file = sites::last_part(m.name);
  return m.dynamic != nullptr && m.name[0] != 0 && !m.programs &&
         (sites::begins(file, "libquire") || sites::begins(file, "libstdc++") || sites::is_loaded_by_quire(file) ||
          (m.known && !sites::is_of_a_compiler(file) && !sites::is_of_an_allocator(file)));
}

}  // namespace

void leave_out_program() noexcept {
  for (const module& m : modules()) {
    if (!works_for_quire(m)) continue;
    for_each_slot(m, [](const char* name, const void* now) -> const void* {
      // Functions of C++ that a program has are the same, or its own operators (start/operators.cpp).
      return sites::begins(name, "_Z") || !is_programs_code(now) ? nullptr : past_program(name);
    });
  }
}

}  // namespace quire::openmp
