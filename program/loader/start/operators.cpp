// SPDX-License-Identifier: BSD-3-Clause
// Where a program has new and delete of its own, Quire's libraries get others (posix/heap/operators.hpp), by the tables
// through which libraries call one another. libstdc++ serves both, and gives back what both have made.
#include <string.h>

#include <cstdint>

#include "program/posix/heap/operators.hpp"
#include "program/process/modules.hpp"
#include "program/process/slots.hpp"
#include "program/process/symbols.hpp"
#include "program/sites/known_libraries.hpp"

namespace quire::program {
namespace {

template <class Function>
void note_operator(Function*& into, const char* wanted, const char* name, const void* at) noexcept {
  if (into == nullptr && strcmp(name, wanted) == 0)
    into = reinterpret_cast<Function*>(reinterpret_cast<std::uintptr_t>(at));
}

/// The first of each, as the dynamic linker would find it.
void find_programs_operators() noexcept {
  programs_operators& p = g_programs;
  for (const module& m : modules()) {
    if (!m.programs) continue;
    (void)dynamic_symbols{m.dynamic, m.base}.any_defined([&p](const char* name, const void* at) {
      note_operator(p.make, "_Znwm", name, at);
      note_operator(p.make_array, "_Znam", name, at);
      note_operator(p.make_aligned, "_ZnwmSt11align_val_t", name, at);
      note_operator(p.make_aligned_array, "_ZnamSt11align_val_t", name, at);
      note_operator(p.drop, "_ZdlPv", name, at);
      note_operator(p.drop_array, "_ZdaPv", name, at);
      note_operator(p.drop_aligned, "_ZdlPvSt11align_val_t", name, at);
      note_operator(p.drop_aligned_array, "_ZdaPvSt11align_val_t", name, at);
      return false;
    });
  }
}

/// Before other constructors: nothing is made by one and dropped by the other.
[[gnu::constructor(101)]] void separate_operators() noexcept {
  find_programs_operators();
  if (!g_programs.any()) return;
  for (const module& m : modules()) {
    const char* const file = sites::last_part(m.name);
    const bool quires = sites::begins(file, "libquire");
    if (!quires && !sites::begins(file, "libstdc++")) continue;
    for_each_slot(m, [quires](const char* name, const void*) { return marked_operator(name, quires); });
  }
}

}  // namespace
}  // namespace quire::program
