// SPDX-License-Identifier: BSD-3-Clause
// A program may have functions with names of libc's (read, send, poll), whatever they do. libc itself does not call
// them. Nor must Quire, or what it stands on: where their tables lead to the program, they are made to lead past it.
#include "program/process/own_names.hpp"

#include <dlfcn.h>
#include <string.h>

#include "program/process/interpose.hpp"
#include "program/process/modules.hpp"
#include "program/process/slots.hpp"
#include "program/sites/known_libraries.hpp"

namespace quire::program {
namespace {

bool is_programs_code(const void* at) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(at);
  for (const module& m : modules()) {
    if (m.programs && address >= m.code_first && address < m.code_end) return true;
  }
  return false;
}

bool is_libc(const module& m) noexcept {
  return m.dynamic != nullptr && sites::begins(sites::last_part(m.name), "libc.so");
}

/// Libc's own. dlopen(3) of libc, for a handle, comes too early.
const void* libcs_own(const char* name) noexcept {
  for (const module& m : modules()) {
    if (is_libc(m)) return dynamic_symbols{m.dynamic, m.base}.newest(name);
  }
  return nullptr;
}

/// The library of the program's that stands before libc, and so behind Quire's, and has it. An allocator gives way.
const module* behind_quire(const char* name) noexcept {
  if (name[0] == '_') return nullptr;
  for (const module& m : modules()) {
    if (is_libc(m)) return nullptr;
    if (!m.programs || m.name[0] == 0 || m.dynamic == nullptr) continue;
    const dynamic_symbols names{m.dynamic, m.base};
    if (names.newest(name) != nullptr) return names.newest("malloc") == nullptr ? &m : nullptr;
  }
  return nullptr;
}

/// It can call what it stands before, as a library does that counts calls.
bool finds_next(const module& m) noexcept {
  return dynamic_symbols{m.dynamic, m.base}.any_needed(
      [](const char* name) { return strcmp(name, "dlsym") == 0 || strcmp(name, "dlvsym") == 0; });
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
  const void* const next = ::dlsym(RTLD_NEXT, name);
  return is_programs_code(next) ? libcs_own(name) : next;
}

/// libstdc++ reads files for Quire.
bool works_for_quire(const module& m) noexcept {
  const char* const file = sites::last_part(m.name);
  return m.dynamic != nullptr && m.name[0] != 0 && !m.programs &&
         (sites::begins(file, "libquire") || sites::begins(file, "libstdc++") || sites::is_loaded_by_quire(file) ||
          (m.known && !sites::is_of_a_compiler(file) && !sites::is_of_an_allocator(file)));
}

bool is_at(const module& m, const void* code) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(code);
  return address >= m.code_first && address < m.code_end;
}

/// Libquire itself calls libc past libquire_omp where that would go on to the program: also where nothing of the
/// program's can be read yet, and on threads that bring its pages.
void leave_out_libraries(const module& of) noexcept {
  const module* const here = own_module();
  if (here == nullptr || &of == here || !sites::begins(sites::last_part(of.name), "libquire.so")) return;
  for_each_slot(of, [here](const char* name, const void* now) -> const void* {
    return is_at(*here, now) && behind_quire(name) != nullptr ? libcs_own(name) : nullptr;
  });
}

bool is_quires_code(const void* at) noexcept {
  for (const module& m : modules()) {
    if (sites::begins(sites::last_part(m.name), "libquire") && is_at(m, at)) return true;
  }
  return false;
}

void lead_to_libraries(const module& of) noexcept {
  for_each_slot(of, [](const char* name, const void* now) -> const void* {
    if (!is_quires_code(now) || libcs_own(name) == nullptr) return nullptr;
    const module* const other = behind_quire(name);
    if (other == nullptr || finds_next(*other)) return nullptr;
    return dynamic_symbols{other->dynamic, other->base}.newest(name);
  });
}

bool g_known = false;

/// A program's own heap is that of all while there is one (loader/start/allocators.cpp): a block may come from one
/// library, as PMIx, and go back in another one.
bool is_of_own_heap(const char* name) noexcept {
  for (const char* const one : {"malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign"}) {
    if (strcmp(name, one) == 0) return dynamic_symbols{modules()[0].dynamic, modules()[0].base}.defines("malloc");
  }
  return false;
}

}  // namespace

void* next_without_lock(const char* name) noexcept {
  const module* const here = g_known ? own_module() : nullptr;
  if (here == nullptr) return nullptr;
  const auto all = modules();
  for (const module* m = here + 1; m != all.data() + all.size(); ++m) {
    if (m->dynamic == nullptr) continue;
    if (const void* const found = dynamic_symbols{m->dynamic, m->base}.newest(name); found != nullptr)
      return const_cast<void*>(found);
  }
  return nullptr;
}

void leave_out_program() noexcept {
  g_known = true;
  for (const module& m : modules()) {
    if (!works_for_quire(m)) continue;
    for_each_slot(m, [](const char* name, const void* now) -> const void* {
      // Functions of C++ that a program has are the same, or its own operators (loader/start/operators.cpp).
      return sites::begins(name, "_Z") || !is_programs_code(now) || is_of_own_heap(name) ? nullptr : past_program(name);
    });
    leave_out_libraries(m);
  }
}

void lead_to_own_libraries() noexcept {
  for (const module& m : modules()) {
    if (m.programs && m.dynamic != nullptr) lead_to_libraries(m);
  }
}

}  // namespace quire::program
