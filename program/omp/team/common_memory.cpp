// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/common_memory.hpp"

#include <sched.h>

#include "program/omp/team/members.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/process/fail.hpp"

namespace quire::program {
namespace {

/// Before what the construct gets.
struct header {
  std::uint64_t ready;
  std::uint64_t unused[7];
};

void lock_table() noexcept {
  if (me().spans) {
    lock(shared().names);
  } else {
    own_team().guard.lock();
  }
}
void unlock_table() noexcept {
  if (me().spans) {
    unlock(shared().names);
  } else {
    own_team().guard.unlock();
  }
}

void* new_memory(std::size_t bytes) noexcept {
  void* at = nullptr;
  if (const quire_status why = quire_calloc(1, sizeof(header) + bytes, &at); why != QUIRE_OK)
    fail("no shared memory for a loop", why);
  return at;
}

}  // namespace

void* begin_common_memory(std::size_t bytes, bool& first) noexcept {
  context& c = me();
  const std::uint64_t number = ++c.kept;
  // Places are used again: all are behind the construct that had this one before.
  if (number % (common_state::most_kept / 2) == 0) team_barrier();
  lock_table();
  auto& place = common().kept[number % common_state::most_kept];
  void* old = nullptr;
  first = place.number != number;
  if (first) {
    old = place.memory;
    place.memory = new_memory(bytes);
    place.number = number;
  }
  auto* const memory = static_cast<header*>(place.memory);
  unlock_table();
  if (old != nullptr) (void)quire_free(old);
  for (unsigned tries = 0; !first && __atomic_load_n(&memory->ready, __ATOMIC_ACQUIRE) == 0; ++tries) {
    constexpr unsigned short_while = 100;
    if (tries > short_while) ::sched_yield();
  }
  return memory + 1;
}

void common_memory_ready(void* memory) noexcept {
  __atomic_store_n(&(static_cast<header*>(memory) - 1)->ready, 1, __ATOMIC_RELEASE);
}

void clear_kept_memory() noexcept {
  for (auto& place : common().kept) {
    if (place.memory != nullptr) (void)quire_free(place.memory);
    place = {};
  }
}

}  // namespace quire::program
