// SPDX-License-Identifier: BSD-3-Clause
#include "program/job/shared_state.hpp"

#include <quire/system.h>

#include <initializer_list>

#include "program/posix/errands/output.hpp"
#include "program/process/fail.hpp"

namespace quire::openmp {
namespace {
shared_state* g_state = nullptr;
thread_local int t_held = 0;

/// Memory that costs nothing until pages are closed.
void make_closed_pages(shared_state::closed_pages& c, quire_region heap) noexcept {
  void *first = nullptr, *zero = nullptr, *unmapped = nullptr, *begins = nullptr, *leaves = nullptr, *stale = nullptr;
  std::uint64_t bytes = 0;
  quire_status why = quire_heap_range(heap, &first, &bytes);
  for (void** const bits : {&zero, &unmapped, &begins, &leaves, &stale}) {
    if (why == QUIRE_OK) why = quire_calloc(bytes / 4096 / 64 + 1, sizeof(std::uint64_t), bits);
  }
  if (why != QUIRE_OK) fail("no shared memory for what is known of pages", why);
  c = {reinterpret_cast<std::uint64_t>(first), bytes / 4096,
       static_cast<std::uint64_t*>(zero),      static_cast<std::uint64_t*>(unmapped),
       static_cast<std::uint64_t*>(begins),    static_cast<std::uint64_t*>(leaves),
       static_cast<std::uint64_t*>(stale)};
}
}  // namespace

void open_shared_state() {
  void* at = nullptr;
  if (quire_node() == 0) {
    if (const quire_status why = quire_aligned_alloc(4096, sizeof(shared_state), &at); why != QUIRE_OK)
      fail("no shared memory", why);
    auto& s = *static_cast<shared_state*>(at);  // new pages are zero
    quire_region heap{};
    if (const quire_status why = quire_region_of(&s, &heap); why != QUIRE_OK) fail("shared memory is of no heap", why);
    make_closed_pages(s.closed[0], heap);
    s.next_library = first_library;
    for (quire_mutex* const m : {&s.critical, &s.atomics, &s.names, &s.loading, &s.process}) {
      if (const quire_status why = quire_mutex_create(m); why != QUIRE_OK) fail("no mutex", why);
    }
  }
  if (const quire_status why = quire_broadcast(&at, sizeof at, 0); why != QUIRE_OK) fail("nodes cannot begin", why);
  g_state = static_cast<shared_state*>(at);
}

shared_state& shared() noexcept { return *g_state; }
void add_marks_of(unsigned n, quire_region large_blocks) noexcept {
  make_closed_pages(g_state->closed[1 + n], large_blocks);
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
  shared_state& s = *g_state;
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
  lock(g_state->names);
  g_state->locks[number - 1] = 0;
  unlock(g_state->names);
  (void)!quire_mutex_destroy(m);
}

quire_mutex lock_of(std::uint32_t number) noexcept {
  if (number == 0 || number > shared_state::most_locks || g_state->locks[number - 1] == 0)
    fail("a lock was never initialised, or is destroyed", QUIRE_INVALID);
  return {g_state->locks[number - 1]};
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

}  // namespace quire::openmp
