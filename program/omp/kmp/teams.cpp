// SPDX-License-Identifier: BSD-3-Clause
// Calls that clang makes for leagues of teams, and for devices, of which there are none.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "program/omp/kmp/region.hpp"
#include "program/omp/team/league.hpp"
#include "program/process/fail.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

/// What the next league of the caller has in its clauses; 0: nothing.
thread_local unsigned t_teams = 0, t_limit = 0;

unsigned asked(id number) noexcept { return number > 0 ? static_cast<unsigned>(number) : 0; }

}  // namespace

QUIRE_KMP void __kmpc_push_num_teams(source*, id, id teams, id limit) {
  t_teams = asked(teams);
  t_limit = asked(limit);
}
QUIRE_KMP void __kmpc_push_num_teams_51(source*, id, id, id most, id limit) {
  t_teams = asked(most);
  t_limit = asked(limit);
}
/// Newer compilers run a target construct with this clause as a task, which begins with this call.
QUIRE_KMP void __kmpc_set_thread_limit(source*, id, id limit) { set_thread_limit(asked(limit)); }

QUIRE_KMP void __kmpc_fork_teams(source*, id count, microtask what, ...) {
  QUIRE_KMP_REGION(r, count, what)
  run_league(run_region_of, &r, std::exchange(t_teams, 0), std::exchange(t_limit, 0));
}

/// 0: code for devices is not to run on any; 2: it must.
QUIRE_KMP id __kmpc_get_target_offload() {
  constexpr id mandatory = 2;
  return job().needs_device ? mandatory : 0;
}

QUIRE_KMP void __kmpc_error(source*, id severity, const char* text) {
  constexpr id fatal = 2;
  char line[600];
  std::snprintf(line, sizeof line, "error directive encountered: %s", text != nullptr ? text : "");
  if (severity == fatal) fail(line, QUIRE_OK);
  std::fprintf(stderr, "quire: OpenMP: %s\n", line);
}
