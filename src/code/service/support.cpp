// SPDX-License-Identifier: BSD-3-Clause
// What modules call in place of the C++ library's, and words that say which node is at work.
#include <quire/quire.h>
#include <unistd.h>

#include <algorithm>

#include "code/service/service.hpp"

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* linker_handle);

namespace quire::api {

code_service* (*code_of_process)() noexcept = nullptr;

constexpr std::uint64_t work_pending = 0x100;

std::uint64_t at_work() noexcept { return work_pending | static_cast<std::uint64_t>(quire_node() + 1) << 32; }
int node_at_work(std::uint64_t word) noexcept { return static_cast<int>(word >> 32) - 1; }

std::uint64_t change_word(std::uint64_t* word, std::uint64_t from, std::uint64_t to) noexcept {
  int done = 0;
  std::uint64_t before = from;
  if (quire_compare_exchange(word, &before, to, &done) == QUIRE_OK) return before;
  before = from;
  __atomic_compare_exchange_n(word, &before, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return before;
}

namespace {

/// What a call of atexit(3) leaves behind belongs to the module, which goes before the process does, or after its
/// memory.
int keep_exit(void (*function)(void*), void* argument, void* linker_handle) {
  code_service* const here = code_of_process != nullptr ? code_of_process() : nullptr;
  if (here != nullptr && here->keep_exit(function, argument, linker_handle)) return 0;
  return ::__cxa_atexit(function, argument, linker_handle);
}

// Variables in functions that are initialised by the first call. Their guards are shared, and nobody is woken who
// sleeps by a futex for a word that another process writes: a thread that finds one at work looks again, after a while.
// The word is 0; 1 when all is done; or says who is at work.

int acquire_guard(std::uint64_t* guard) {
  constexpr unsigned longest_us = 1000;
  std::uint64_t expected = 0;
  for (unsigned pause_us = 10;; pause_us = std::min(2 * pause_us, longest_us)) {
    const std::uint64_t before = change_word(guard, expected, at_work());
    if (before == expected) return 1;
    if ((before & 0xff) == work_done) return 0;
    const int node = node_at_work(before);
    expected = before != 0 && quire_alive(node) == 0 ? before : 0;  // who was at work has died: somebody begins anew
    ::usleep(pause_us);
  }
}

void release_guard(std::uint64_t* guard) { (void)change_word(guard, at_work(), work_done); }
void abort_guard(std::uint64_t* guard) { (void)change_word(guard, at_work(), 0); }

}  // namespace

void* code_support(std::string_view name) noexcept {
  if (name == "__cxa_atexit") return reinterpret_cast<void*>(keep_exit);
  if (name == "__cxa_guard_acquire") return reinterpret_cast<void*>(acquire_guard);
  if (name == "__cxa_guard_release") return reinterpret_cast<void*>(release_guard);
  if (name == "__cxa_guard_abort") return reinterpret_cast<void*>(abort_guard);
  return nullptr;
}

}  // namespace quire::api
