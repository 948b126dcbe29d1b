// SPDX-License-Identifier: BSD-3-Clause
// Handlers of atexit(3), and destructors of static objects, which a thread registers where it comes first: they run on node 0, wherever that was.
#include "openmp/libc/interpose.hpp"
#include "openmp/memory/heap.hpp"
#include "openmp/team/team.hpp"
#include "openmp/threads/elsewhere.hpp"

using namespace quire::openmp;

namespace {

struct last_call {
  void (*what)(void*);
  void *argument, *library;
  int error;
};

int keep(const last_call& l) noexcept {
  static auto* const real = next<int(void (*)(void*), void*, void*)>("__cxa_atexit");
  return real(l.what, l.argument, l.library);
}

}  // namespace

QUIRE_LIBC int __cxa_atexit(void (*what)(void*), void* argument, void* library) noexcept {
  last_call l{what, argument, library, 0};
  if (job().node == 0 || !for_program(QUIRE_CALLER)) return keep(l);
  const bool done = run_on(0, [](void* at) -> void* {
    auto& asked = *static_cast<last_call*>(at);
    asked.error = keep(asked);
    return nullptr;
  }, &l);
  return done ? l.error : -1;
}
