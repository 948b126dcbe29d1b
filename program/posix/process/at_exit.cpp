// SPDX-License-Identifier: BSD-3-Clause
// Handlers of atexit(3), on_exit(3) and at_quick_exit(3), and destructors of static objects, which a thread registers
// where it comes first: they run on node 0, wherever that was, on a shared stack.
#include <errno.h>
#include <stdlib.h>

#include <utility>

#include "program/job/job.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/process/exit_stack.hpp"
#include "program/posix/threads/elsewhere.hpp"
#include "program/process/interpose.hpp"
#include "program/process/private_memory.hpp"

extern "C" int __cxa_at_quick_exit(void (*)(void*), void*) noexcept;

using namespace quire::program;

namespace {

enum class kind { object, quick, with_status };

/// What the program asks for. In shared memory while another node registers it.
struct last_call {
  kind of = kind::object;
  void (*what)(void*) = nullptr;
  void (*what_with_status)(int, void*) = nullptr;
  void* argument = nullptr;
  void* library = nullptr;
  int error = 0, status = 0;
};

void run_kept(void* at) {
  auto* const kept = static_cast<last_call*>(at);
  const last_call own = *kept;
  destroy_private(kept);
  if (own.of == kind::with_status) return own.what_with_status(own.status, own.argument);
  own.what(own.argument);
}

void at_end(void* kept) { call_at_end(run_kept, kept); }
void at_end_with_status(int status, void* at) {
  static_cast<last_call*>(at)->status = status;
  call_at_end(run_kept, at);
}

using register_object = int(void (*)(void*), void*, void*);

/// On node 0. Those of quick_exit(3) have no argument, and run on the stack of its caller.
int keep(const last_call& asked) noexcept {
  auto* const real = QUIRE_NEXT_AS(register_object, "__cxa_atexit");
  if (asked.of == kind::quick) return QUIRE_NEXT(__cxa_at_quick_exit)(asked.what, asked.library);
  auto* const kept = make_private<last_call>(asked);
  return asked.of == kind::object ? real(at_end, kept, asked.library) : QUIRE_NEXT(on_exit)(at_end_with_status, kept);
}

int keep_on_node_0(last_call asked) noexcept {
  if (job().node == 0) return keep(asked);
  const bool done = run_on(
      0,
      [](void* at) -> void* {
        auto& there = *static_cast<last_call*>(at);
        there.error = keep(there);
        return nullptr;
      },
      &asked);
  return done ? asked.error : -1;
}

}  // namespace

QUIRE_LIBC int __cxa_atexit(void (*what)(void*), void* argument, void* library) noexcept {
  auto* const real = QUIRE_NEXT_AS(register_object, "__cxa_atexit");
  if (!for_program(QUIRE_CALLER)) return real(what, argument, library);
  return keep_on_node_0({kind::object, what, nullptr, argument, library});
}

QUIRE_LIBC int __cxa_at_quick_exit(void (*what)(void*), void* library) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(__cxa_at_quick_exit)(what, library);
  return keep_on_node_0({kind::quick, what, nullptr, nullptr, library});
}

QUIRE_LIBC int on_exit(void (*what)(int, void*), void* argument) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(on_exit)(what, argument);
  return keep_on_node_0({kind::with_status, nullptr, what, argument, nullptr});
}
