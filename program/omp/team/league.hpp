// SPDX-License-Identifier: BSD-3-Clause
// Leagues of teams: each team is an initial task, and its regions have the threads of all nodes. The teams run one
// after the other.
#pragma once

#include "program/omp/team/team.hpp"

namespace quire::program {

/// How many teams a league has that asks for so many; 0: as many as usual.
[[nodiscard]] unsigned teams_of_league(unsigned asked) noexcept;
/// The caller's task is a team's from here on; `limit`: of the threads of its regions; 0: as many as teams have.
void begin_team(unsigned number, unsigned teams, unsigned limit) noexcept;
/// A clause thread_limit of the caller's task: of its regions, and those of the tasks that it makes; 0: none.
void set_thread_limit(unsigned limit) noexcept;
/// what(data) for each team.
void run_league(region_function what, void* data, unsigned teams, unsigned limit) noexcept;

}  // namespace quire::program
