// SPDX-License-Identifier: BSD-3-Clause
// Locks of omp_*.

#include <cstdint>

#include "openmp/gomp/export.hpp"
#include "openmp/team/shared_state.hpp"
#include "openmp/start/fail.hpp"
#include "openmp/team/team.hpp"

using namespace quire::openmp;

// ---- Locks. gcc's omp_lock_t has 4 bytes, omp_nest_lock_t 16.

namespace {

std::uint32_t number_of_new_lock() noexcept {
  const std::uint32_t number = make_lock();
  if (number == 0) fail("no more locks can be made", QUIRE_LIMIT);
  return number;
}

struct nest_lock {
  std::uint32_t number;
  std::int32_t depth;
  std::uint64_t owner;  ///< a thread of the job, + 1
};
static_assert(sizeof(nest_lock) == 16);

std::uint64_t caller() noexcept {
  return (static_cast<std::uint64_t>(job().node) << 32 | static_cast<std::uint32_t>(quire_thread())) + 1;
}

}  // namespace

QUIRE_GOMP void omp_init_lock(std::uint32_t* l) { *l = number_of_new_lock(); }
QUIRE_GOMP void omp_init_lock_with_hint(std::uint32_t* l, int) { *l = number_of_new_lock(); }
QUIRE_GOMP void omp_destroy_lock(std::uint32_t* l) {
  destroy_lock(*l);
  *l = 0;
}
QUIRE_GOMP void omp_set_lock(std::uint32_t* l) { lock(lock_of(*l)); }
QUIRE_GOMP void omp_unset_lock(std::uint32_t* l) { unlock(lock_of(*l)); }
QUIRE_GOMP int omp_test_lock(std::uint32_t* l) { return try_lock(lock_of(*l)) ? 1 : 0; }

QUIRE_GOMP void omp_init_nest_lock(nest_lock* l) { *l = {number_of_new_lock(), 0, 0}; }
QUIRE_GOMP void omp_init_nest_lock_with_hint(nest_lock* l, int) { *l = {number_of_new_lock(), 0, 0}; }
QUIRE_GOMP void omp_destroy_nest_lock(nest_lock* l) {
  destroy_lock(l->number);
  *l = {};
}
QUIRE_GOMP void omp_set_nest_lock(nest_lock* l) {
  if (__atomic_load_n(&l->owner, __ATOMIC_RELAXED) != caller()) {
    lock(lock_of(l->number));
    __atomic_store_n(&l->owner, caller(), __ATOMIC_RELAXED);
  }
  ++l->depth;
}
QUIRE_GOMP void omp_unset_nest_lock(nest_lock* l) {
  if (--l->depth != 0) return;
  __atomic_store_n(&l->owner, 0, __ATOMIC_RELAXED);
  unlock(lock_of(l->number));
}
QUIRE_GOMP int omp_test_nest_lock(nest_lock* l) {
  if (__atomic_load_n(&l->owner, __ATOMIC_RELAXED) != caller()) {
    if (!try_lock(lock_of(l->number))) return 0;
    __atomic_store_n(&l->owner, caller(), __ATOMIC_RELAXED);
  }
  return ++l->depth;
}
