// SPDX-License-Identifier: BSD-3-Clause
// Critical sections, and atomic operations for which gcc has no instruction.
#include "program/job/shared_state.hpp"
#include "program/omp/gomp/export.hpp"
#include "program/omp/team/sums.hpp"
#include "program/posix/errands/locks.hpp"

using namespace quire::program;

QUIRE_GOMP void GOMP_critical_start() { lock(shared().critical); }
QUIRE_GOMP void GOMP_critical_end() { unlock(shared().critical); }
QUIRE_GOMP void GOMP_atomic_start() { lock_atomics(__builtin_return_address(0)); }
QUIRE_GOMP void GOMP_atomic_end() { unlock_atomics(); }

QUIRE_GOMP void GOMP_critical_name_start(void** name) { lock_by_name(reinterpret_cast<std::uint32_t*>(name)); }
QUIRE_GOMP void GOMP_critical_name_end(void** name) { unlock_by_name(reinterpret_cast<std::uint32_t*>(name)); }
