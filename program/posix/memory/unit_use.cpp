// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/memory/unit_use.hpp"

#include <dlfcn.h>

#include "program/process/code_span.hpp"

namespace quire::program {
namespace {
span g_library;  ///< libgfortran's code; empty: there is none
thread_local constinit int t_within =
    0;  ///< statements that the thread is in, one within a function that another calls
}  // namespace

void begin_unit_use() noexcept { ++t_within; }
void end_unit_use() noexcept { --t_within; }

void find_units_library() noexcept {
  const void* const any = ::dlsym(RTLD_NEXT, "_gfortran_st_write");
  if (any != nullptr) g_library = code_around(any);
}

bool is_for_unit(const void* caller) noexcept { return t_within != 0 && g_library.has(caller); }
bool has_units_library() noexcept { return g_library.bytes != 0; }
bool is_in_unit_statement() noexcept { return t_within != 0; }

}  // namespace quire::program
