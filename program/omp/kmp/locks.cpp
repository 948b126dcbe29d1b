// SPDX-License-Identifier: BSD-3-Clause
// Locks as Intel's compilers call them: the functions of omp_*, with the place in the source and the thread's number.
#include "program/omp/kmp/abi.hpp"

using namespace quire::program::kmp;

#define QUIRE_LOCK(kind)                                                                                      \
  extern "C" {                                                                                                \
  void omp_init_##kind(void*);                                                                                \
  void omp_destroy_##kind(void*);                                                                             \
  void omp_set_##kind(void*);                                                                                 \
  void omp_unset_##kind(void*);                                                                               \
  int omp_test_##kind(void*);                                                                                 \
  }                                                                                                           \
  QUIRE_KMP void __kmpc_init_##kind(source*, id, void* l) { omp_init_##kind(l); }                             \
  QUIRE_KMP void __kmpc_init_##kind##_with_hint(source*, id, void* l, std::uintptr_t) { omp_init_##kind(l); } \
  QUIRE_KMP void __kmpc_destroy_##kind(source*, id, void* l) { omp_destroy_##kind(l); }                       \
  QUIRE_KMP void __kmpc_set_##kind(source*, id, void* l) { omp_set_##kind(l); }                               \
  QUIRE_KMP void __kmpc_unset_##kind(source*, id, void* l) { omp_unset_##kind(l); }                           \
  QUIRE_KMP id __kmpc_test_##kind(source*, id, void* l) { return omp_test_##kind(l); }
QUIRE_LOCK(lock)
QUIRE_LOCK(nest_lock)
