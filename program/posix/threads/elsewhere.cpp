// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/threads/elsewhere.hpp"

#include <quire/quire.h>
#include <time.h>

#include "program/process/fail.hpp"

namespace quire::program {
namespace {

/// A node that has ended takes no calls: the caller ends with its own node.
[[noreturn]] void end_with_job(quire_status why) noexcept {
  const timespec long_enough{10, 0};
  ::nanosleep(&long_enough, nullptr);
  fail("another node cannot be asked", why);
}

}  // namespace

bool run_on(int node, void* (*what)(void*), void* at) noexcept {
  quire_remote_thread thread{};
  quire_status why = quire_spawn(node, what, at, &thread);
  if (why == QUIRE_NO_MEMORY) return false;
  if (why == QUIRE_OK) why = quire_join(thread, nullptr);
  if (why != QUIRE_OK) end_with_job(why);
  return true;
}

}  // namespace quire::program
