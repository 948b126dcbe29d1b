// SPDX-License-Identifier: BSD-3-Clause
// Calls that gcc makes for parallel regions, barriers, single and master.
#include "program/omp/gomp/export.hpp"
#include "program/omp/team/members.hpp"
#include "program/omp/team/single.hpp"

using namespace quire::program;

QUIRE_GOMP void GOMP_parallel(region_function what, void* data, unsigned threads, unsigned flags) {
  ask_binding(binding_of(flags));
  run_region(what, data, threads);
}
QUIRE_GOMP void GOMP_barrier() { team_barrier(__builtin_return_address(0)); }

QUIRE_GOMP bool GOMP_single_start() { return is_first_at_single(); }

/// Null: the caller does the work, and hands on `data` by GOMP_single_copy_end().
QUIRE_GOMP void* GOMP_single_copy_start() {
  if (is_first_at_single()) return nullptr;
  team_barrier();
  return reinterpret_cast<void*>(common().copied);
}
QUIRE_GOMP void GOMP_single_copy_end(void* data) {
  if (me().count > 1) common().copied = reinterpret_cast<std::uint64_t>(data);
  team_barrier();
}
