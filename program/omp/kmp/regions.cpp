// SPDX-License-Identifier: BSD-3-Clause
// Calls that clang makes for parallel regions. The addresses of what a region shares, on the caller's shared stack, lie
// in its frame.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "program/omp/kmp/region.hpp"
#include "program/omp/team/team.hpp"
#include "program/process/fail.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

/// What num_threads asks of the caller's next region; 0: nothing.
thread_local unsigned t_asked = 0;

}  // namespace

void quire::program::kmp::run_region_of(void* data) {
  const region& r = *static_cast<const region*>(data);
  id thread = me().number, thread_of_team = thread;
  invoke(r.what, &thread, &thread_of_team, r.count, r.arguments());
}

QUIRE_KMP void __kmpc_begin(source*, id) {}
QUIRE_KMP void __kmpc_end(source*) {}
QUIRE_KMP id __kmpc_global_thread_num(source*) { return me().number; }
QUIRE_KMP id __kmpc_global_num_threads(source*) { return me().count; }
QUIRE_KMP id __kmpc_bound_thread_num(source*) { return me().number; }
QUIRE_KMP id __kmpc_bound_num_threads(source*) { return me().count; }
QUIRE_KMP id __kmpc_in_parallel(source*) { return me().active_level > 0 ? 1 : 0; }
QUIRE_KMP id __kmpc_ok_to_fork(source*) { return 1; }

QUIRE_KMP void __kmpc_push_num_threads(source*, id, id threads) {
  t_asked = threads > 0 ? static_cast<unsigned>(threads) : 0;
}
/// The region has so many threads, or the program is told; severity 2: and ends.
QUIRE_KMP void __kmpc_push_num_threads_strict(source* where, id thread, id threads, id severity, const char* text) {
  constexpr id fatal = 2;
  __kmpc_push_num_threads(where, thread, threads);
  const int had = threads_of_region(t_asked);
  if (threads <= 0 || had == threads) return;
  char line[600];
  std::snprintf(line, sizeof line, "a region asks for %d threads, and can have %d%s%s", threads, had,
                text != nullptr ? ": " : "", text != nullptr ? text : "");
  if (severity == fatal) fail(line, QUIRE_OK);
  std::fprintf(stderr, "quire: OpenMP: %s\n", line);
}
QUIRE_KMP void __kmpc_pop_num_threads(source*, id) { t_asked = 0; }
QUIRE_KMP void __kmpc_push_proc_bind(source*, id, id how) {
  if (how >= static_cast<id>(binding::primary) && how <= static_cast<id>(binding::spread))
    ask_binding(static_cast<binding>(how));
}

QUIRE_KMP void __kmpc_fork_call(source*, id count, microtask what, ...) {
  QUIRE_KMP_REGION(r, count, what)
  run_region(run_region_of, &r, std::exchange(t_asked, 0), {.start = reinterpret_cast<std::int64_t>(what)},
             region_bytes(count));
}

/// The `if` clause in the same call; clang passes one address then.
QUIRE_KMP void __kmpc_fork_call_if(source*, id count, microtask what, id condition, void* argument) {
  struct {
    region r;
    void* arguments[least_arguments];
  } all{{what, std::min(count, least_arguments)}, {argument}};
  const unsigned asked = std::exchange(t_asked, 0);
  run_region(run_region_of, &all.r, condition != 0 ? asked : 1, {.start = reinterpret_cast<std::int64_t>(what)},
             sizeof all);
}

/// The caller runs the region itself, between these two.
QUIRE_KMP void __kmpc_serialized_parallel(source*, id) {
  t_asked = 0;
  begin_alone();
}
QUIRE_KMP void __kmpc_end_serialized_parallel(source*, id) { end_alone(); }
