// SPDX-License-Identifier: BSD-3-Clause
// Barriers in which threads run tasks, and which end early when the region is cancelled. For programs that have tasks,
// or cancellation.
#pragma once

#include "program/omp/team/team.hpp"

namespace quire::program {

/// Whether this job has barriers of this kind.
[[nodiscard]] inline bool polls() noexcept { return job().has_tasks || job().cancellation; }
/// A barrier within the region. A region that is cancelled has none any more.
void meet(team& in) noexcept;
/// That at its end, to which all come, cancelled or not.
void meet_at_end(team& in) noexcept;
/// Whether the caller's region is cancelled; cancels it.
[[nodiscard]] bool is_region_cancelled() noexcept;
void cancel_region() noexcept;

}  // namespace quire::program
