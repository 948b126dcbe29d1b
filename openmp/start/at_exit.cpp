// SPDX-License-Identifier: BSD-3-Clause
// Handlers of atexit(3) and at_quick_exit(3), and destructors of static objects, which a thread registers where it
// comes first: they run on node 0, wherever that was.
#include "openmp/libc/interpose.hpp"
#include "openmp/memory/heap.hpp"
#include "openmp/team/team.hpp"
#include "openmp/threads/elsewhere.hpp"

using namespace quire::openmp;

namespace {

struct last_call {
  void (*what)(void*);
  void *argument, *library;
  bool quick;  ///< of quick_exit(3); its handlers have no argument
  int error;
};

int keep(const last_call& l) noexcept {
  using exit_function = int(void (*)(void*), void*, void*);
  using quick_exit_function = int(void (*)(void*), void*);
  return l.quick ? QUIRE_NEXT_AS(quick_exit_function, "__cxa_at_quick_exit")(l.what, l.library)
                 : QUIRE_NEXT_AS(exit_function, "__cxa_atexit")(l.what, l.argument, l.library);
}

int keep_on_node_0(last_call& l) noexcept {
  const bool done = run_on(
      0,
      [](void* at) -> void* {
        auto& asked = *static_cast<last_call*>(at);
        asked.error = keep(asked);
        return nullptr;
      },
      &l);
  return done ? l.error : -1;
}

}  // namespace

QUIRE_LIBC int __cxa_atexit(void (*what)(void*), void* argument, void* library) noexcept {
  last_call l{what, argument, library, false, 0};
  return job().node == 0 || !for_program(QUIRE_CALLER) ? keep(l) : keep_on_node_0(l);
}

QUIRE_LIBC int __cxa_at_quick_exit(void (*what)(void*), void* library) noexcept {
  last_call l{what, nullptr, library, true, 0};
  return job().node == 0 || !for_program(QUIRE_CALLER) ? keep(l) : keep_on_node_0(l);
}
