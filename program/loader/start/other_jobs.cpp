// SPDX-License-Identifier: BSD-3-Clause
// The tools look at what the executable names itself; here all its libraries are known.
#include "program/loader/start/other_jobs.hpp"

#include <string.h>

#include <cstdio>

#include "program/process/fail.hpp"
#include "program/process/modules.hpp"

namespace quire::program {
namespace {

const char* library_of(const module& m) noexcept {
  const char* const slash = strrchr(m.name, '/');
  return slash != nullptr ? slash + 1 : m.name;
}

bool needs_quire(const module& m) noexcept {
  const auto* const texts = m.entry(DT_STRTAB);
  for (const ElfW(Dyn)* d = m.dynamic; texts != nullptr && d->d_tag != DT_NULL; ++d) {
    if (d->d_tag != DT_NEEDED) continue;
    if (strncmp(reinterpret_cast<const char*>(texts->d_un.d_ptr) + d->d_un.d_val, "libquire.so", 11) == 0) return true;
  }
  return false;
}

bool is_of_mpi(const module& m) noexcept {
  return strncmp(library_of(m), "libmpi", 6) == 0 || strncmp(library_of(m), "liboshmem", 9) == 0;
}

}  // namespace

void refuse_other_jobs() noexcept {
  for (const module& m : modules()) {
    const bool quire = m.programs && m.dynamic != nullptr && needs_quire(m);
    if (!quire && !is_of_mpi(m)) continue;
    char line[400];
    std::snprintf(line, sizeof line,
                  "the program's library %s %s: its threads are not placed on nodes; quire run --copies starts copies",
                  library_of(m), quire ? "uses Quire itself" : "is of MPI");
    fail(line, QUIRE_UNSUPPORTED);
  }
}

}  // namespace quire::program
