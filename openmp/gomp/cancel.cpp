// SPDX-License-Identifier: BSD-3-Clause
// Cancellation, where OMP_CANCELLATION is true: words that threads look at, in shared memory if the team is on several nodes.
#include <cstdint>

#include "openmp/gomp/export.hpp"
#include "openmp/team/meet.hpp"
#include "openmp/team/members.hpp"
#include "openmp/team/tasking.hpp"

using namespace quire::openmp;

namespace {

enum construct : int { parallel = 1, a_loop = 2, sections = 4, taskgroup = 8 };
constexpr int shares = a_loop | sections;

bool is_share_cancelled() noexcept { return __atomic_load_n(&common().cancelled_share, __ATOMIC_ACQUIRE) != 0; }
std::uint32_t* word_of_group() noexcept { return group_of_caller() != nullptr ? group_of_caller()->cancelled : nullptr; }

bool is_cancelled(int which) noexcept {
  if (!job().cancellation) return false;
  if ((which & shares) != 0) return is_share_cancelled();
  // A region that is cancelled ends its tasks, too.
  const std::uint32_t* const word = (which & taskgroup) != 0 ? word_of_group() : nullptr;
  return (word != nullptr && __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0) || is_region_cancelled();
}

/// Whether the construct was left because it, or the region, is cancelled: the barrier's end takes back that a loop is.
bool barrier_and_look() noexcept {
  team_barrier();
  return is_region_cancelled();
}

}  // namespace

QUIRE_GOMP bool GOMP_cancellation_point(int which) { return is_cancelled(which); }
QUIRE_GOMP bool GOMP_cancel(int which, bool active) {
  if (!job().cancellation) return false;
  if (!active) return is_cancelled(which);
  if ((which & shares) != 0) {
    __atomic_store_n(&common().cancelled_share, 1, __ATOMIC_RELEASE);
  } else if ((which & taskgroup) != 0) {
    std::uint32_t* const word = word_of_group();
    if (word != nullptr) __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  } else {
    cancel_region();
  }
  return true;
}
QUIRE_GOMP bool GOMP_barrier_cancel() { return barrier_and_look(); }
QUIRE_GOMP bool GOMP_loop_end_cancel() { return barrier_and_look(); }
QUIRE_GOMP bool GOMP_sections_end_cancel() { return barrier_and_look(); }
