// SPDX-License-Identifier: BSD-3-Clause
// Critical sections, and atomic operations for which gcc has no instruction.
#include "openmp/gomp/export.hpp"
#include "openmp/team/shared_state.hpp"

using namespace quire::openmp;

QUIRE_GOMP void GOMP_critical_start() { lock(shared().critical); }
QUIRE_GOMP void GOMP_critical_end() { unlock(shared().critical); }
QUIRE_GOMP void GOMP_atomic_start() { lock(shared().atomics); }
QUIRE_GOMP void GOMP_atomic_end() { unlock(shared().atomics); }

/// The word that gcc has made for the name is shared, zero at first, and holds the number of a lock then.
QUIRE_GOMP void GOMP_critical_name_start(void** name) {
  auto* const word = reinterpret_cast<std::uint64_t*>(name);
  std::uint64_t number = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  if (number == 0) {
    const std::uint32_t made = make_lock();
    if (__atomic_compare_exchange_n(word, &number, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      number = made;
    } else {
      destroy_lock(made);
    }
  }
  lock(lock_of(static_cast<std::uint32_t>(number)));
}
QUIRE_GOMP void GOMP_critical_name_end(void** name) {
  unlock(lock_of(static_cast<std::uint32_t>(__atomic_load_n(reinterpret_cast<std::uint64_t*>(name), __ATOMIC_ACQUIRE))));
}
