// SPDX-License-Identifier: BSD-3-Clause
// Threads of C11, as pthreads: libc would make them past pthread_create(3).
#include <errno.h>
#include <stdlib.h>
#include <threads.h>

#include <cstdint>

#include "program/posix/heap/heap.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

namespace {

struct beginning {
  thrd_start_t body;
  void* argument;
};

void* as_result(int value) noexcept { return reinterpret_cast<void*>(static_cast<std::intptr_t>(value)); }

void* run(void* at) {
  const beginning b = *static_cast<beginning*>(at);
  free(at);
  return as_result(b.body(b.argument));
}

}  // namespace

QUIRE_LIBC int thrd_create(thrd_t* thread, thrd_start_t body, void* argument) {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(thrd_create)(thread, body, argument);
  void* const at = allocate_shared(sizeof(beginning));
  if (at == nullptr) return thrd_nomem;
  *static_cast<beginning*>(at) = {body, argument};
  const int error = make_own_thread(thread, nullptr, run, at);
  if (error != 0) free(at);
  return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : thrd_error;
}

QUIRE_LIBC int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  if (::pthread_join(thread, &value) != 0) return thrd_error;
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return thrd_success;
}

QUIRE_LIBC int thrd_detach(thrd_t thread) { return ::pthread_detach(thread) == 0 ? thrd_success : thrd_error; }
QUIRE_LIBC void thrd_exit(int result) { leave_thread(as_result(result)); }
