// SPDX-License-Identifier: BSD-3-Clause
// Threads of this node that wait for regions.
#pragma once

#include "program/omp/team/team.hpp"

namespace quire::program {

constexpr int most_workers = 4095;

/// Has threads of this node take their part in a team, with numbers from `first_number` on: those behind the lead in an
/// outermost region, in which a number is always the same thread, as threadprivate variables need it; else any that are
/// idle. Ends the node if there are too many.
void call_workers(team& t, int first_number, int count, bool outermost) noexcept;
/// The region of a team that is not outermost has ended: its threads are idle.
void release_workers(team& t) noexcept;
/// How many more threads a region within a region may have here.
[[nodiscard]] int idle_workers() noexcept;

/// A thread's part of a region, from its function to the barrier at its end (team.cpp).
void take_part(team& t, int number) noexcept;

}  // namespace quire::program
