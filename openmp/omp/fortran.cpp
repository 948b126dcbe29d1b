// SPDX-License-Identifier: BSD-3-Clause
// The omp_* functions under the names that Fortran compilers have for them: arguments come by address, and where a program is compiled with integers of
// eight bytes gfortran appends _8_ to the name.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "openmp/gomp/export.hpp"

namespace {

int narrow(std::int64_t value) noexcept {
  return static_cast<int>(std::clamp<std::int64_t>(value, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

}  // namespace

/// Without arguments.
#define QUIRE_ASK(type, name) \
  extern "C" type name();     \
  QUIRE_GOMP type name##_() { return name(); }
QUIRE_ASK(int, omp_get_thread_num)
QUIRE_ASK(int, omp_get_num_threads)
QUIRE_ASK(int, omp_get_max_threads)
QUIRE_ASK(int, omp_get_num_procs)
QUIRE_ASK(int, omp_get_thread_limit)
QUIRE_ASK(int, omp_in_parallel)
QUIRE_ASK(int, omp_get_level)
QUIRE_ASK(int, omp_get_active_level)
QUIRE_ASK(int, omp_get_max_active_levels)
QUIRE_ASK(int, omp_get_supported_active_levels)
QUIRE_ASK(int, omp_get_nested)
QUIRE_ASK(int, omp_get_dynamic)
QUIRE_ASK(int, omp_get_cancellation)
QUIRE_ASK(int, omp_get_num_devices)
QUIRE_ASK(int, omp_is_initial_device)
QUIRE_ASK(int, omp_get_num_teams)
QUIRE_ASK(int, omp_get_team_num)
QUIRE_ASK(double, omp_get_wtime)
QUIRE_ASK(double, omp_get_wtick)

/// With one number.
#define QUIRE_TELL(type, name)                                               \
  extern "C" type name(int);                                                 \
  QUIRE_GOMP type name##_(const std::int32_t* value) { return name(*value); } \
  QUIRE_GOMP type name##_8_(const std::int64_t* value) { return name(narrow(*value)); }
QUIRE_TELL(void, omp_set_num_threads)
QUIRE_TELL(void, omp_set_max_active_levels)
QUIRE_TELL(void, omp_set_nested)
QUIRE_TELL(void, omp_set_dynamic)
QUIRE_TELL(int, omp_get_ancestor_thread_num)
QUIRE_TELL(int, omp_get_team_size)

/// With a lock, which a program in C has by address too.
#define QUIRE_LOCK(type, name)  \
  extern "C" type name(void*);  \
  QUIRE_GOMP type name##_(void* l) { return name(l); }
#define QUIRE_LOCKS(kind)                  \
  QUIRE_LOCK(void, omp_init_##kind) \
  QUIRE_LOCK(void, omp_destroy_##kind) \
  QUIRE_LOCK(void, omp_set_##kind) \
  QUIRE_LOCK(void, omp_unset_##kind) \
  QUIRE_LOCK(int, omp_test_##kind) \
  extern "C" void omp_init_##kind##_with_hint(void*, int); \
  QUIRE_GOMP void omp_init_##kind##_with_hint_(void* l, const std::int32_t* hint) { omp_init_##kind##_with_hint(l, *hint); } \
  QUIRE_GOMP void omp_init_##kind##_with_hint_8_(void* l, const std::int64_t* hint) { omp_init_##kind##_with_hint(l, narrow(*hint)); }
QUIRE_LOCKS(lock)
QUIRE_LOCKS(nest_lock)
