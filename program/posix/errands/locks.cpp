// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/errands/locks.hpp"

#include "program/job/shared_state.hpp"
#include "program/posix/errands/output.hpp"
#include "program/process/fail.hpp"

namespace quire::program {
namespace {
thread_local int t_held = 0;
}

int locks_held() noexcept { return t_held; }
bool try_lock(quire_mutex m) noexcept {
  if (quire_mutex_try_lock(m) != QUIRE_OK) return false;
  ++t_held;
  return true;
}
void lock(quire_mutex m) noexcept {
  if (const quire_status why = quire_mutex_lock(m); why != QUIRE_OK) fail("a lock cannot be had", why);
  ++t_held;
}
void unlock(quire_mutex m) noexcept {
  write_output();
  if (const quire_status why = quire_mutex_unlock(m); why != QUIRE_OK) fail("a lock cannot be given back", why);
  --t_held;
}

std::uint32_t make_lock() noexcept {
  quire_mutex made{};
  if (quire_mutex_create(&made) != QUIRE_OK) return 0;
  shared_state& s = shared();
  lock(s.names);
  std::uint64_t number = 0;
  if (s.locks_used < shared_state::most_locks) {
    number = ++s.locks_used;
  } else {
    for (std::uint64_t i = 0; i < shared_state::most_locks && number == 0; ++i) {
      if (s.locks[i] == 0) number = i + 1;
    }
  }
  if (number != 0) s.locks[number - 1] = made.id;
  unlock(s.names);
  if (number == 0) (void)!quire_mutex_destroy(made);
  return static_cast<std::uint32_t>(number);
}

void destroy_lock(std::uint32_t number) noexcept {
  const quire_mutex m = lock_of(number);
  lock(shared().names);
  shared().locks[number - 1] = 0;
  unlock(shared().names);
  (void)!quire_mutex_destroy(m);
}

quire_mutex lock_of(std::uint32_t number) noexcept {
  if (number == 0 || number > shared_state::most_locks || shared().locks[number - 1] == 0)
    fail("a lock was never initialised, or is destroyed", QUIRE_INVALID);
  return {shared().locks[number - 1]};
}

void lock_by_name(std::uint32_t* word) noexcept {
  std::uint32_t number = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  if (number == 0) {
    const std::uint32_t made = make_lock();
    if (made == 0) fail("no more critical sections can have locks", QUIRE_LIMIT);
    if (__atomic_compare_exchange_n(word, &number, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      number = made;
    } else {
      destroy_lock(made);
    }
  }
  lock(lock_of(number));
}
void unlock_by_name(std::uint32_t* word) noexcept { unlock(lock_of(__atomic_load_n(word, __ATOMIC_ACQUIRE))); }

}  // namespace quire::program
