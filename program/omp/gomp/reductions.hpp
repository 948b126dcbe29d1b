// SPDX-License-Identifier: BSD-3-Clause
// Reductions of tasks, as gcc describes them: a list of blocks, each of which gets memory for all threads of the team.
#pragma once

#include <cstdint>

namespace quire::program {

/// For the caller's innermost taskgroup.
void register_reductions(std::uintptr_t* block) noexcept;
/// As another thread of the team has registered its own, for a construct that all of them come to.
void register_reductions_as(std::uintptr_t* block, const std::uintptr_t* first) noexcept;
/// For regions of so many threads, which begin with it.
void allocate_reductions(std::uintptr_t* block, int threads) noexcept;

/// A worksharing construct with reductions of tasks begins: a taskgroup of each thread, with memory that the team
/// shares.
void begin_shared_reductions(std::uintptr_t* block) noexcept;

}  // namespace quire::program
