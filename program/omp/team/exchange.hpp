// SPDX-License-Identifier: BSD-3-Clause
// What the nodes of a team tell each other while its region runs: meetings, and tasks that one has and another one has
// threads for.
#pragma once

#include <cstdint>

#include "program/omp/team/team.hpp"

namespace quire::program {

/// Collective, once, for jobs whose barriers are of this kind.
void open_exchange();
/// A region of all nodes begins on this one.
void join_exchange(team& t) noexcept;

/// What has come is looked at. Any thread that waits.
void look_at_mail() noexcept;
/// All threads of this node are at a meeting, and nothing is left to do here.
void node_is_ready(team& in, std::uint64_t round, bool at_end) noexcept;

/// A thread of this node has nothing to do: other nodes may give it tasks.
void ask_for_tasks() noexcept;
/// One more task is ready here: nodes that have asked may get some.
void on_new_task(team& in) noexcept;
/// The body of a task has ended here: whoever waits for it may go on, and nodes that have given it are told.
void end_body(team& in, user_task& t) noexcept;

}  // namespace quire::program
