// SPDX-License-Identifier: BSD-3-Clause
// Local static objects of C++, which the thread that comes first makes while others wait. libstdc++ lets them sleep on
// the guard's word, from which only threads of the same node are woken: where the guard is shared, they look again and
// again.
#include <dlfcn.h>
#include <time.h>

#include <cstdint>

#include "program/job/shared_state.hpp"
#include "program/posix/errands/locks.hpp"

using namespace quire::program;

namespace {

/// The ABI has the first byte for "made"; the second one says "being made".
struct guard {
  std::uint8_t made, begun;
};

bool is_shared(const void* at) noexcept {
  quire_region of{};
  return quire_region_of(at, &of) == QUIRE_OK;
}

template <class Function>
Function real(const char* name) noexcept {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#define QUIRE_EXPORT extern "C" __attribute__((visibility("default")))

QUIRE_EXPORT int __cxa_guard_acquire(guard* g) {
  if (__atomic_load_n(&g->made, __ATOMIC_ACQUIRE) != 0) return 0;
  if (!is_shared(g)) return real<int (*)(guard*)>("__cxa_guard_acquire")(g);
  for (;;) {
    lock(shared().names);
    const bool made = g->made != 0, mine = !made && g->begun == 0;
    if (mine) g->begun = 1;
    unlock(shared().names);
    if (made) return 0;
    if (mine) return 1;
    const timespec little{0, 100'000};
    ::nanosleep(&little, nullptr);
  }
}

QUIRE_EXPORT void __cxa_guard_release(guard* g) {
  if (!is_shared(g)) return real<void (*)(guard*)>("__cxa_guard_release")(g);
  g->begun = 0;
  __atomic_store_n(&g->made, 1, __ATOMIC_RELEASE);
}

QUIRE_EXPORT void __cxa_guard_abort(guard* g) {
  if (!is_shared(g)) return real<void (*)(guard*)>("__cxa_guard_abort")(g);
  __atomic_store_n(&g->begun, 0, __ATOMIC_RELEASE);
}
