// SPDX-License-Identifier: BSD-3-Clause
// Robust mutexes (pthread_mutexattr_setrobust): where their owner ends, who takes one next is told so. Each thread of
// the program has a private list of those that it holds. A node's end is the job's, so only threads are looked after.
#pragma once

#include <cstdint>

namespace quire::program {

/// What `held` says of a mutex. The first two are those of any mutex.
enum class mutex_state : std::uint32_t {
  free = 0,
  held = 1,
  left = 2,  ///< free, but its owner has ended
  lost = 3,  ///< unlocked as it was left: nobody gets it any more
};

/// The calling thread has taken a robust mutex, or gives it back.
void hold_robustly(void* mutex) noexcept;
void let_go_robustly(void* mutex) noexcept;
/// The calling thread ends: mutexes that it holds have been left.
void leave_mutexes() noexcept;

}  // namespace quire::program
