// SPDX-License-Identifier: BSD-3-Clause
// The omp_* functions.
#include <time.h>

#include <cstdint>

#include "openmp/gomp/export.hpp"
#include "openmp/team/shared_state.hpp"
#include "openmp/start/fail.hpp"
#include "openmp/team/team.hpp"

using namespace quire::openmp;

QUIRE_GOMP int omp_get_thread_num() { return me().number; }
QUIRE_GOMP int omp_get_num_threads() { return me().count; }
QUIRE_GOMP int omp_get_max_threads() { return job().threads; }
QUIRE_GOMP int omp_get_num_procs() { return job().processors; }
QUIRE_GOMP int omp_get_thread_limit() { return 65'536; }
QUIRE_GOMP int omp_in_parallel() { return me().active_level > 0 ? 1 : 0; }
QUIRE_GOMP int omp_get_level() { return me().level; }
QUIRE_GOMP int omp_get_active_level() { return me().active_level; }
QUIRE_GOMP int omp_get_max_active_levels() { return 1; }
QUIRE_GOMP void omp_set_max_active_levels(int) {}
QUIRE_GOMP int omp_get_supported_active_levels() { return 1; }
QUIRE_GOMP int omp_get_nested() { return 0; }
QUIRE_GOMP void omp_set_nested(int) {}
QUIRE_GOMP int omp_get_dynamic() { return 0; }
QUIRE_GOMP void omp_set_dynamic(int) {}
QUIRE_GOMP int omp_get_cancellation() { return 0; }
QUIRE_GOMP int omp_get_num_devices() { return 0; }
QUIRE_GOMP int omp_is_initial_device() { return 1; }
QUIRE_GOMP int omp_get_num_teams() { return 1; }
QUIRE_GOMP int omp_get_team_num() { return 0; }

/// Node 0's master calls, and no other node begins regions.
QUIRE_GOMP void omp_set_num_threads(int threads) {
  if (threads > 0) job().threads = threads;
}

QUIRE_GOMP int omp_get_ancestor_thread_num(int level) {
  if (level == me().level) return me().number;
  return level == 0 ? 0 : level == me().level - 1 ? me().outer_number : -1;
}
QUIRE_GOMP int omp_get_team_size(int level) {
  if (level == me().level) return me().count;
  return level == 0 ? 1 : level == me().level - 1 ? me().outer_count : -1;
}

QUIRE_GOMP double omp_get_wtime() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
QUIRE_GOMP double omp_get_wtick() { return 1e-9; }

// ---- Locks. A lock of gcc's has four bytes, which all have: its number. Eight is what all have for a nested one: an address in shared memory.

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
  if (const quire_status why = quire_malloc(sizeof(nest_lock), &at); why != QUIRE_OK) fail("no shared memory for a lock", why);
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
QUIRE_GOMP int omp_test_lock(std::uint32_t* l) { return quire_mutex_try_lock(lock_of(*l)) == QUIRE_OK ? 1 : 0; }

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
    if (quire_mutex_try_lock(lock_of(n.number)) != QUIRE_OK) return 0;
    hold(n);
  }
  return ++n.depth;
}
