// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/pthreads/robust.hpp"

#include <utility>

#include "program/process/private_memory.hpp"
#include "program/process/waiting.hpp"

namespace quire::program {
namespace {

struct held_mutex {
  void* mutex;
  held_mutex* before;
};
thread_local constinit held_mutex* t_held = nullptr;

}  // namespace

void hold_robustly(void* mutex) noexcept { t_held = make_private<held_mutex>(mutex, t_held); }

void let_go_robustly(void* mutex) noexcept {
  for (held_mutex** at = &t_held; *at != nullptr; at = &(*at)->before) {
    if ((*at)->mutex != mutex) continue;
    destroy_private(std::exchange(*at, (*at)->before));
    return;
  }
}

void leave_mutexes() noexcept {
  while (t_held != nullptr) {
    auto& words = *static_cast<std::uint32_t(*)[3]>(t_held->mutex);  // held, depth, owner, as mutexes.cpp has them
    words[1] = 0;
    __atomic_store_n(&words[2], 0, __ATOMIC_RELAXED);  // another thread may have this one's number
    store(words[0], static_cast<std::uint32_t>(mutex_state::left));
    destroy_private(std::exchange(t_held, t_held->before));
  }
}

}  // namespace quire::program
