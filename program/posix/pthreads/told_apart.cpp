// SPDX-License-Identifier: BSD-3-Clause
// Libc maps a thread's stack, with its descriptor, where the system chooses: among the node's own addresses
// (posix/memory/own_addresses.cpp), or where something from before the start has left a hole. A thread in such a hole
// sleeps to the end of the process, so that the hole is filled; another one is made.
#include "program/posix/pthreads/told_apart.hpp"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "program/posix/errands/note_mapping.hpp"
#include "program/posix/memory/own_addresses.hpp"
#include "program/process/interpose.hpp"
#include "program/process/private_memory.hpp"

namespace quire::program {
namespace {

struct beginning {
  void* (*body)(void*);
  void* argument;
};

void* begin(void* at) {
  const beginning b = *static_cast<beginning*>(at);
  destroy_private(static_cast<beginning*>(at));
  if (is_told_apart(::pthread_self())) return b.body(b.argument);
  sigset_t all;
  ::sigfillset(&all);
  (void)::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) ::pause();
}

bool has_own_stack(const pthread_attr_t* about) noexcept {
  void* stack = nullptr;
  std::size_t bytes = 0;
  return about != nullptr && ::pthread_attr_getstack(about, &stack, &bytes) == 0 &&
         reinterpret_cast<std::uintptr_t>(stack) + bytes != 0;  // its end, which libc keeps
}

int refuse() noexcept {
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) {
    constexpr char line[] =
        "quire: threads: a thread is refused (EAGAIN), as private mappings have taken all addresses of this node's "
        "own: "
        "map less of files, or unmap what is done with\n";
    (void)!::write(2, line, sizeof line - 1);
  }
  return EAGAIN;
}

}  // namespace

int make_told_apart(pthread_t* thread, const pthread_attr_t* about, void* (*body)(void*), void* argument) noexcept {
  constexpr int most_holes = 64;
  constexpr std::uint64_t page = 4096;
  if (has_own_stack(about)) {
    const int error = QUIRE_NEXT(pthread_create)(thread, about, body, argument);
    if (error == 0) note_private_mapping(*thread / page * page, page);
    return error;
  }
  for (int i = 0; i < most_holes; ++i) {
    auto* const b = make_private<beginning>(body, argument);
    const int error = QUIRE_NEXT(pthread_create)(thread, about, begin, b);
    if (error != 0) return destroy_private(b), error;
    if (is_told_apart(*thread)) return 0;
  }
  return refuse();
}

}  // namespace quire::program
