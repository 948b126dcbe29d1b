// SPDX-License-Identifier: BSD-3-Clause
// Threads of a program with OpenMP: libc's, each of the node where it was made. Its pthread_t lies in that node's
// private memory, and tells it (told_apart.hpp). main()'s lies above what nodes have for themselves.
#pragma once

#include <errno.h>
#include <pthread.h>

#include "program/job/job.hpp"
#include "program/posix/memory/own_addresses.hpp"
#include "program/posix/memory/private_notes.hpp"
#include "program/posix/memory/thread_data.hpp"
#include "program/posix/threads/elsewhere.hpp"

namespace quire::program {

/// The node whose libc knows a thread that has no place.
[[nodiscard]] inline int node_of_thread(pthread_t thread) noexcept {
  const int placed = node_of_place(thread);  // where there are thread-local variables
  if (placed >= 0) return placed;
  const int noted = node_of_note(thread);  // on a stack that the program has mapped itself
  if (noted >= 0) return noted;
  const int node = node_of_private(thread);
  if (node >= 0) return node;
  return ::pthread_equal(thread, job().main_thread) != 0 ? 0 : job().node;
}

/// call(), which gives 0 or an error, on that node. It may wait there.
template <class Call>
int at_node_of(pthread_t thread, const Call& call) {
  const int node = node_of_thread(thread);
  if (node == job().node) return call();
  struct {
    const Call& call;
    int result;
  } asked{call, ESRCH};
  const bool made = run_on(
      node,
      [](void* at) -> void* {
        auto& there = *static_cast<decltype(asked)*>(at);
        there.result = there.call();
        return nullptr;
      },
      &asked);
  return made ? asked.result : EAGAIN;
}

}  // namespace quire::program
