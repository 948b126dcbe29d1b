// SPDX-License-Identifier: BSD-3-Clause
// Locks of omp_*. A lock of gcc's has four bytes, which all have: its number. Eight is what all have for a nested one:
// an address in shared memory.
#include <cstdint>

#include "program/job/shared_state.hpp"
#include "program/omp/gomp/export.hpp"
#include "program/omp/team/team.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/process/fail.hpp"

using namespace quire::program;

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

std::uint64_t caller() noexcept {
  return (static_cast<std::uint64_t>(job().node) << 32 | static_cast<std::uint32_t>(quire_thread())) + 1;
}

nest_lock* new_nest_lock() noexcept {
  void* at = nullptr;
  if (const quire_status why = quire_malloc(sizeof(nest_lock), &at); why != QUIRE_OK)
    fail("no shared memory for a lock", why);
  auto* const made = static_cast<nest_lock*>(at);
  *made = {number_of_new_lock(), 0, 0};
  return made;
}

nest_lock& nest_lock_of(nest_lock* l) noexcept {
  if (l == nullptr) fail("a nested lock was never initialised, or is destroyed", QUIRE_INVALID);
  return *l;
}

bool is_callers(const nest_lock& l) noexcept { return __atomic_load_n(&l.owner, __ATOMIC_RELAXED) == caller(); }
void hold(nest_lock& l) noexcept { __atomic_store_n(&l.owner, caller(), __ATOMIC_RELAXED); }

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

QUIRE_GOMP void omp_init_nest_lock(nest_lock** l) { *l = new_nest_lock(); }
QUIRE_GOMP void omp_init_nest_lock_with_hint(nest_lock** l, int) { *l = new_nest_lock(); }
QUIRE_GOMP void omp_destroy_nest_lock(nest_lock** l) {
  destroy_lock(nest_lock_of(*l).number);
  (void)!quire_free(*l);
  *l = nullptr;
}
QUIRE_GOMP void omp_set_nest_lock(nest_lock** l) {
  nest_lock& n = nest_lock_of(*l);
  if (!is_callers(n)) {
    lock(lock_of(n.number));
    hold(n);
  }
  ++n.depth;
}
QUIRE_GOMP void omp_unset_nest_lock(nest_lock** l) {
  nest_lock& n = nest_lock_of(*l);
  if (--n.depth != 0) return;
  __atomic_store_n(&n.owner, 0, __ATOMIC_RELAXED);
  unlock(lock_of(n.number));
}
QUIRE_GOMP int omp_test_nest_lock(nest_lock** l) {
  nest_lock& n = nest_lock_of(*l);
  if (!is_callers(n)) {
    if (!try_lock(lock_of(n.number))) return 0;
    hold(n);
  }
  return ++n.depth;
}
