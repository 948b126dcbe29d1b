// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/pthreads/start_at.hpp"

#include <pthread.h>

#include <cstdint>

#include "program/posix/memory/thread_data.hpp"
#include "program/posix/pthreads/told_apart.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"

namespace quire::program {
namespace {

pthread_t g_lead;

struct placed_beginning {
  std::uint64_t descriptor;
  void* (*body)(void*);
  void* argument;
};

void* begin_placed(void* at) noexcept {
  const placed_beginning b = *static_cast<placed_beginning*>(at);
  delete static_cast<placed_beginning*>(at);
  if (b.descriptor != 0 && reinterpret_cast<std::uint64_t>(__builtin_thread_pointer()) != b.descriptor)
    fail("thread-local variables cannot be shared: libc places a thread elsewhere than expected", QUIRE_UNSUPPORTED);
  return b.body(b.argument);
}

}  // namespace

void start_thread_at(std::size_t place, void* (*body)(void*), void* argument, bool detached) noexcept {
  pthread_attr_t about;
  ::pthread_attr_init(&about);
  auto* const b = new placed_beginning{0, body, argument};
  int error = 0;
  if (own_place own{}; find_place_here(place, own)) {
    b->descriptor = own.descriptor;
    error = ::pthread_attr_setstack(&about, reinterpret_cast<void*>(own.first), own.bytes);
  }
  pthread_t thread;
  if (error == 0)
    error = b->descriptor != 0 ? QUIRE_NEXT(pthread_create)(&thread, &about, begin_placed, b)
                               : make_told_apart(&thread, &about, begin_placed, b);  // none of the program's own
  ::pthread_attr_destroy(&about);
  if (error != 0) fail_for_thread(error);
  if (detached) {
    QUIRE_NEXT(pthread_detach)(thread);
  } else {
    g_lead = thread;
  }
}

void wait_for_lead() noexcept { QUIRE_NEXT(pthread_join)(g_lead, nullptr); }

}  // namespace quire::program
