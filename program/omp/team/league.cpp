// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/league.hpp"

#include <algorithm>
#include <climits>

namespace quire::program {

unsigned teams_of_league(unsigned asked) noexcept {
  constexpr unsigned usual = 1;
  return asked != 0                         ? asked
         : own_variables().teams_asked != 0 ? static_cast<unsigned>(own_variables().teams_asked)
                                            : usual;
}

void set_thread_limit(unsigned limit) noexcept {
  if (limit != 0) own_variables().thread_limit = static_cast<int>(std::min<unsigned>(limit, INT_MAX));
}

void begin_team(unsigned number, unsigned teams, unsigned limit) noexcept {
  variables& own = own_variables();
  own.team_number = static_cast<int>(number);
  own.teams = static_cast<int>(teams);
  if (limit == 0 && own.teams_limit != 0) own.thread_limit = std::min(own.thread_limit, own.teams_limit);
  set_thread_limit(limit);
}

void run_league(region_function what, void* data, unsigned teams, unsigned limit) noexcept {
  struct league {
    region_function what;
    void* data;
    unsigned number, teams, limit;
  } l{what, data, 0, teams_of_league(teams), limit};
  for (; l.number < l.teams; ++l.number) {
    run_initial(
        [](void* at) {
          const league& now = *static_cast<league*>(at);
          begin_team(now.number, now.teams, now.limit);
          now.what(now.data);
        },
        &l);
  }
}

}  // namespace quire::program
