// SPDX-License-Identifier: BSD-3-Clause
// The omp_* functions that ask and set what holds for the caller's task and thread, and the clock.
#include <time.h>

#include <algorithm>
#include <climits>

#include "program/omp/gomp/export.hpp"
#include "program/omp/team/environment.hpp"
#include "program/omp/team/team.hpp"

using namespace quire::program;
using schedule = loop::schedule;

QUIRE_GOMP int omp_get_thread_num() { return me().number; }
QUIRE_GOMP int omp_get_num_threads() { return me().count; }
QUIRE_GOMP int omp_get_max_threads() { return std::min(own_variables().threads, own_variables().thread_limit); }
QUIRE_GOMP int omp_get_num_procs() { return job().processors; }
QUIRE_GOMP int omp_get_thread_limit() { return own_variables().thread_limit; }
QUIRE_GOMP int omp_in_parallel() { return me().active_level > 0 ? 1 : 0; }
QUIRE_GOMP int omp_get_level() { return me().level; }
QUIRE_GOMP int omp_get_active_level() { return me().active_level; }
QUIRE_GOMP void omp_set_num_threads(int threads) { own_variables().threads = std::max(threads, 1); }

// ---- Regions within regions.

namespace {
constexpr int supported_levels = 255;
}
QUIRE_GOMP int omp_get_supported_active_levels() { return supported_levels; }
QUIRE_GOMP int omp_get_max_active_levels() { return std::min(own_variables().most_active_levels, supported_levels); }
QUIRE_GOMP void omp_set_max_active_levels(int levels) {
  if (levels >= 0) own_variables().most_active_levels = std::min(levels, supported_levels);
}
QUIRE_GOMP int omp_get_nested() {
  return own_variables().most_active_levels > me().active_level && own_variables().most_active_levels > 1 ? 1 : 0;
}
QUIRE_GOMP void omp_set_nested(int on) {
  int& levels = own_variables().most_active_levels;
  if (on != 0) {
    levels = supported_levels;
  } else if (levels > 1) {
    levels = 1;
  }
}
QUIRE_GOMP int omp_get_dynamic() { return own_variables().dynamic ? 1 : 0; }
QUIRE_GOMP void omp_set_dynamic(int on) { own_variables().dynamic = on != 0; }

namespace {
/// The caller's context of a level; null: it has none.
const context* at_level(int level) noexcept {
  const context* c = &me();
  if (level < 0 || level > c->level) return nullptr;
  while (c != nullptr && c->level != level) c = c->outer;
  return c;
}
}  // namespace
QUIRE_GOMP int omp_get_ancestor_thread_num(int level) {
  const context* const c = at_level(level);
  return c != nullptr ? c->number : level == 0 ? 0 : -1;
}
QUIRE_GOMP int omp_get_team_size(int level) {
  const context* const c = at_level(level);
  return c != nullptr ? c->count : level == 0 ? 1 : -1;
}

// ---- Schedules of loops that leave it to the user.

namespace {
constexpr unsigned kind_static = 1, kind_dynamic = 2, kind_guided = 3, kind_auto = 4, kind_monotonic = 0x80000000u;
}
QUIRE_GOMP void omp_set_schedule(unsigned kind, int chunk) {
  variables& own = own_variables();
  const unsigned plain = kind & ~kind_monotonic;
  if (plain < kind_static || plain > kind_auto) return;
  own.monotonic = (kind & kind_monotonic) != 0;
  own.scheduled = true;
  own.automatic = plain == kind_auto;
  if (plain == kind_dynamic || plain == kind_guided) {
    own.schedule = plain == kind_dynamic ? schedule::taken : schedule::guided;
    own.chunk = static_cast<std::uint64_t>(std::max(chunk, 1));
  } else {
    own.schedule = plain == kind_static && chunk > 0 ? schedule::rounds : schedule::blocks;
    own.chunk = own.schedule == schedule::rounds ? static_cast<std::uint64_t>(chunk) : 0;
  }
}
QUIRE_GOMP void omp_get_schedule(unsigned* kind, int* chunk) {
  const variables& own = own_variables();
  const unsigned plain = own.automatic                      ? kind_auto
                         : own.schedule == schedule::taken  ? kind_dynamic
                         : own.schedule == schedule::guided ? kind_guided
                                                            : kind_static;
  *kind = plain | (own.monotonic ? kind_monotonic : 0);
  *chunk = static_cast<int>(own.chunk);
}

// ---- Leagues, cancellation, priorities, what is on.

QUIRE_GOMP int omp_get_num_teams() { return own_variables().teams; }
QUIRE_GOMP int omp_get_team_num() { return own_variables().team_number; }
QUIRE_GOMP int omp_get_max_teams() { return own_variables().teams_asked; }
QUIRE_GOMP void omp_set_num_teams(int teams) { own_variables().teams_asked = std::max(teams, 0); }
QUIRE_GOMP int omp_get_teams_thread_limit() { return own_variables().teams_limit; }
QUIRE_GOMP void omp_set_teams_thread_limit(int limit) { own_variables().teams_limit = std::max(limit, 0); }
QUIRE_GOMP int omp_get_cancellation() { return job().cancellation ? 1 : 0; }
QUIRE_GOMP int omp_get_max_task_priority() { return job().most_priority; }
QUIRE_GOMP void omp_display_env(int verbose) { display_environment(verbose != 0); }
QUIRE_GOMP int omp_pause_resource_all(int) { return me().level > 0 ? -1 : 0; }
QUIRE_GOMP int omp_pause_resource(int, int device) { return device != 0 || me().level > 0 ? -1 : 0; }

QUIRE_GOMP double omp_get_wtime() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
QUIRE_GOMP double omp_get_wtick() { return 1e-9; }

// ---- Names that LLVM's runtime has beside these, and what a task is.

QUIRE_GOMP int omp_in_explicit_task() { return me().now != nullptr && me().now != me().implicit ? 1 : 0; }
QUIRE_GOMP int omp_is_free_agent() { return 0; }
QUIRE_GOMP int omp_ancestor_is_free_agent(int) { return 0; }
QUIRE_GOMP void ompc_set_num_threads(int threads) { omp_set_num_threads(threads); }
QUIRE_GOMP void ompc_set_dynamic(int on) { omp_set_dynamic(on); }
QUIRE_GOMP void ompc_set_nested(int on) { omp_set_nested(on); }
QUIRE_GOMP void ompc_set_max_active_levels(int levels) { omp_set_max_active_levels(levels); }
QUIRE_GOMP void ompc_set_schedule(unsigned kind, int chunk) { omp_set_schedule(kind, chunk); }
QUIRE_GOMP int ompc_get_ancestor_thread_num(int level) { return omp_get_ancestor_thread_num(level); }
QUIRE_GOMP int ompc_get_team_size(int level) { return omp_get_team_size(level); }
