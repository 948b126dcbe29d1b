// SPDX-License-Identifier: BSD-3-Clause
// fork(2) from a private stack: the child has none of the shared ones, and must be able to say so.
#include <unistd.h>

#include "program/posix/files/children.hpp"
#include "program/posix/threads/elsewhere.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"
#include "program/process/programs_mask.hpp"

using namespace quire::program;

namespace {
pid_t fork_aside() noexcept {
  static thread_local pid_t t_child;  // the caller's stack is not the child's
  const programs_mask children;
  run_aside([](void*) { t_child = QUIRE_NEXT(fork)(); }, nullptr);
  if (t_child > 0) note_child();
  return t_child;
}
}  // namespace

QUIRE_LIBC pid_t fork() noexcept { return fork_aside(); }
/// Without handlers, among which is Quire's, the child would take part in the job.
QUIRE_LIBC pid_t _Fork() noexcept { return fork_aside(); }

/// Its caller's process would end in the middle of the job.
QUIRE_LIBC int daemon(int, int) noexcept {
  fail("daemon() is refused: a node is its process; start the program so that it stays in the foreground",
       QUIRE_UNSUPPORTED);
}
