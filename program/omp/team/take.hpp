// SPDX-License-Identifier: BSD-3-Clause
// Parts of loops: by a thread's number, or from a counter that the team shares.
#pragma once

#include <cstdint>

#include "program/omp/team/team.hpp"

namespace quire::program {

/// Iterations of a loop, counted from its beginning.
struct part {
  std::uint64_t first = 0, end = 0;
};

/// The caller begins a loop.
void begin_loop(const loop& l) noexcept;
/// Its next part for the caller. False: there is none.
[[nodiscard]] bool next_part(part& p) noexcept;

/// The caller leaves a loop at whose end nobody waits.
void end_loop_nowait() noexcept;

/// In an ordered loop: waits until all parts before the caller's have been done.
void wait_for_turn() noexcept;
/// The region has ended, whose loops had numbers up to that.
void clear_counters(std::uint64_t loops) noexcept;

}  // namespace quire::program
