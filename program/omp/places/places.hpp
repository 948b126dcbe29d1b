// SPDX-License-Identifier: BSD-3-Clause
// Threads bound to places: OMP_PLACES, OMP_PROC_BIND and proc_bind clauses. A node binds its threads among its own
// places, as if they were the team; nodes on one host have a share of its places each. Places are numbered through all
// nodes.
#pragma once

#include "program/job/assignment.hpp"
#include "program/job/job.hpp"
#include "program/omp/places/place_list.hpp"

namespace quire::program {

/// Reads OMP_PLACES of this node where threads are bound, and binds the caller, the first thread here. Collective,
/// once.
void open_places();
/// Whether there are any: node 0's OMP_PROC_BIND, or OMP_PLACES, wants threads bound.
[[nodiscard]] bool has_bound_threads() noexcept;
/// Binds the caller, thread `number` of `count` of a team on this node, whose master has the seat `of`. Its own seat.
[[nodiscard]] seat take_seat(binding how, int count, int number, const seat& of) noexcept;
/// Of a thread that has none yet.
[[nodiscard]] seat first_seat() noexcept;
/// How a region at that many active levels binds its threads, if a clause asks for `asked`.
[[nodiscard]] binding binding_of_region(binding asked, int level) noexcept;

/// Places of all nodes, and of this one the first.
[[nodiscard]] int count_places() noexcept;
[[nodiscard]] int first_place_here() noexcept;
/// Any node's; null if there is no such place.
[[nodiscard]] const processor_set* place_by_number(int number) noexcept;

}  // namespace quire::program
