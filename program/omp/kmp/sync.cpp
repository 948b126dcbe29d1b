// SPDX-License-Identifier: BSD-3-Clause
// Calls that clang makes where threads wait for each other, and where one of them does something: barrier, single,
// master, critical, ordered.
#include <atomic>
#include <cstddef>

#include "program/job/shared_state.hpp"
#include "program/omp/kmp/abi.hpp"
#include "program/omp/team/cancel.hpp"
#include "program/omp/team/members.hpp"
#include "program/omp/team/single.hpp"
#include "program/omp/team/take.hpp"
#include "program/omp/team/team.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/process/watch/spin.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

QUIRE_KMP void __kmpc_flush(source*) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  watch::note_flush();
}
QUIRE_KMP void __kmpc_barrier(source* where, id) { team_barrier(where); }

QUIRE_KMP id __kmpc_single(source*, id) { return is_first_at_single() ? 1 : 0; }
QUIRE_KMP void __kmpc_end_single(source*, id) {}
QUIRE_KMP id __kmpc_master(source*, id) { return me().number == 0 ? 1 : 0; }
QUIRE_KMP void __kmpc_end_master(source*, id) {}
QUIRE_KMP id __kmpc_masked(source*, id, id filter) { return me().number == filter ? 1 : 0; }
QUIRE_KMP void __kmpc_end_masked(source*, id) {}
QUIRE_KMP void __kmpc_scope(source*, id, void*) {}
QUIRE_KMP void __kmpc_end_scope(source*, id, void*) {}

/// The master goes on when all have come; the others, when it has called the second function.
QUIRE_KMP id __kmpc_barrier_master(source*, id) {
  team_barrier();
  if (me().number == 0) return 1;
  team_barrier();
  return 0;
}
QUIRE_KMP void __kmpc_end_barrier_master(source*, id) { team_barrier(); }
QUIRE_KMP id __kmpc_barrier_master_nowait(source*, id) {
  team_barrier();
  return me().number == 0 ? 1 : 0;
}

/// Who has done a `single` hands its addresses on; they lie on its shared stack, which it leaves when all have copied.
QUIRE_KMP void __kmpc_copyprivate(source*, id, std::size_t, void* own, void (*copy)(void* to, void* from), id did_it) {
  if (me().count == 1) return;
  if (did_it != 0) common().copied = reinterpret_cast<std::uint64_t>(own);
  team_barrier();
  if (did_it == 0) copy(own, reinterpret_cast<void*>(common().copied));
  team_barrier();
}

/// The same for a pointer alone: the caller has the other barrier.
QUIRE_KMP void* __kmpc_copyprivate_light(source*, id, void* own) {
  if (me().count == 1) return own;
  if (own != nullptr) common().copied = reinterpret_cast<std::uint64_t>(own);
  team_barrier();
  return reinterpret_cast<void*>(common().copied);
}

QUIRE_KMP void __kmpc_critical(source*, id, critical_name* name) { lock_by_name(name->words); }
QUIRE_KMP void __kmpc_critical_with_hint(source*, id, critical_name* name, std::uint32_t) { lock_by_name(name->words); }
QUIRE_KMP void __kmpc_end_critical(source*, id, critical_name* name) { unlock_by_name(name->words); }

QUIRE_KMP void __kmpc_ordered(source*, id) { wait_for_turn(); }
QUIRE_KMP void __kmpc_end_ordered(source*, id) {}  // the thread's part as a whole has its turn

namespace {
/// The compiler's numbers of constructs: region, loop, sections, taskgroup.
int construct_of(id number) noexcept { return 1 << (number - 1); }
static_assert(a_region == 1 << 0 && a_loop == 1 << 1 && some_sections == 1 << 2 && a_taskgroup == 1 << 3);
}  // namespace
QUIRE_KMP id __kmpc_cancel(source*, id, id which) { return cancel(construct_of(which)) ? 1 : 0; }
QUIRE_KMP id __kmpc_cancellationpoint(source*, id, id which) { return is_cancelled(construct_of(which)) ? 1 : 0; }
QUIRE_KMP id __kmpc_cancel_barrier(source*, id) { return barrier_and_look() ? 1 : 0; }
