// SPDX-License-Identifier: BSD-3-Clause
// Intel's functions for a thread's processors: a mask is a set of the processors of the node on which the thread is.
#include <sched.h>
#include <unistd.h>

#include <cstdlib>

#include "program/omp/kmp/abi.hpp"
#include "program/omp/places/topology.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program::kmp;

namespace {

using mask = cpu_set_t*;
constexpr int no_processor = -1, not_allowed = -2;

bool is_processor(int number) noexcept { return number >= 0 && number < CPU_SETSIZE; }

/// The node's process may use it, wherever its threads are bound now.
bool is_allowed(int number) noexcept { return quire::program::had_processor(number); }

}  // namespace

QUIRE_KMP void kmp_create_affinity_mask(mask* m) { *m = static_cast<mask>(std::calloc(1, sizeof(cpu_set_t))); }
QUIRE_KMP void kmp_destroy_affinity_mask(mask* m) {
  std::free(*m);
  *m = nullptr;
}
QUIRE_KMP int kmp_get_affinity_max_proc() { return static_cast<int>(QUIRE_NEXT(sysconf)(_SC_NPROCESSORS_CONF)); }
QUIRE_KMP int kmp_set_affinity_mask_proc(int number, mask* m) {
  if (!is_processor(number)) return no_processor;
  if (!is_allowed(number)) return not_allowed;
  CPU_SET(number, *m);
  return 0;
}
QUIRE_KMP int kmp_unset_affinity_mask_proc(int number, mask* m) {
  if (!is_processor(number)) return no_processor;
  if (!is_allowed(number)) return not_allowed;
  CPU_CLR(number, *m);
  return 0;
}
QUIRE_KMP int kmp_get_affinity_mask_proc(int number, mask* m) {
  if (!is_processor(number)) return no_processor;
  if (!is_allowed(number)) return not_allowed;
  return CPU_ISSET(number, *m) ? 1 : 0;
}

QUIRE_KMP int kmp_set_affinity(mask* m) { return ::sched_setaffinity(0, sizeof **m, *m) == 0 ? 0 : -1; }
QUIRE_KMP int kmp_get_affinity(mask* m) { return ::sched_getaffinity(0, sizeof **m, *m) == 0 ? 0 : -1; }

// Older names.
QUIRE_KMP int kmpc_set_affinity_mask_proc(int number, mask* m) { return kmp_set_affinity_mask_proc(number, m); }
QUIRE_KMP int kmpc_unset_affinity_mask_proc(int number, mask* m) { return kmp_unset_affinity_mask_proc(number, m); }
QUIRE_KMP int kmpc_get_affinity_mask_proc(int number, mask* m) { return kmp_get_affinity_mask_proc(number, m); }

// The names that Fortran has for these where it takes no interface from Intel's module.
QUIRE_KMP void kmp_create_affinity_mask_(mask* m) { kmp_create_affinity_mask(m); }
QUIRE_KMP void kmp_destroy_affinity_mask_(mask* m) { kmp_destroy_affinity_mask(m); }
QUIRE_KMP int kmp_get_affinity_max_proc_() { return kmp_get_affinity_max_proc(); }
QUIRE_KMP int kmp_set_affinity_(mask* m) { return kmp_set_affinity(m); }
QUIRE_KMP int kmp_get_affinity_(mask* m) { return kmp_get_affinity(m); }
QUIRE_KMP int kmp_set_affinity_mask_proc_(const int* number, mask* m) { return kmp_set_affinity_mask_proc(*number, m); }
QUIRE_KMP int kmp_unset_affinity_mask_proc_(const int* number, mask* m) {
  return kmp_unset_affinity_mask_proc(*number, m);
}
QUIRE_KMP int kmp_get_affinity_mask_proc_(const int* number, mask* m) { return kmp_get_affinity_mask_proc(*number, m); }
