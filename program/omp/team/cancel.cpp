// SPDX-License-Identifier: BSD-3-Clause
// Words that threads look at, in shared memory if the team is on several nodes.
#include "program/omp/team/cancel.hpp"

#include <cstdint>

#include "program/omp/team/meet.hpp"
#include "program/omp/team/members.hpp"
#include "program/omp/team/tasking.hpp"

namespace quire::program {
namespace {

constexpr int shares = a_loop | some_sections;

bool is_share_cancelled() noexcept { return __atomic_load_n(&common().cancelled_share, __ATOMIC_ACQUIRE) != 0; }
std::uint32_t* word_of_group() noexcept {
  return group_of_caller() != nullptr ? group_of_caller()->cancelled : nullptr;
}

}  // namespace

bool is_cancelled(int which) noexcept {
  if (!job().cancellation) return false;
  if ((which & shares) != 0) return is_share_cancelled();
  // A region that is cancelled ends its tasks, too.
  const std::uint32_t* const word = (which & a_taskgroup) != 0 ? word_of_group() : nullptr;
  return (word != nullptr && __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0) || is_region_cancelled();
}

bool cancel(int which) noexcept {
  if (!job().cancellation) return false;
  if ((which & shares) != 0) {
    __atomic_store_n(&common().cancelled_share, 1, __ATOMIC_RELEASE);
  } else if ((which & a_taskgroup) != 0) {
    std::uint32_t* const word = word_of_group();
    if (word != nullptr) __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  } else {
    cancel_region();
  }
  return true;
}

bool barrier_and_look() noexcept {
  team_barrier();
  return is_region_cancelled();
}

}  // namespace quire::program
