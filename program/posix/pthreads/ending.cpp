// SPDX-License-Identifier: BSD-3-Clause
// How a thread of the program ends: destructors of its thread_local objects run on its shared stack, as the rest of it
// does; libc would run them on the private one, where memory that they allocate is of one node.
#include <dlfcn.h>
#include <quire/quire.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <utility>

#include "program/posix/process/exits.hpp"
#include "program/posix/pthreads/robust.hpp"
#include "program/posix/pthreads/thread_objects.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/interpose.hpp"
#include "program/process/private_memory.hpp"
#include "program/process/waiting.hpp"

namespace quire::program {

void run_last_calls(own_thread& self) {
  while (self.last_calls != nullptr) {
    const own_thread::last_call now = *self.last_calls;
    destroy_private(std::exchange(self.last_calls, now.before));
    now.what(now.argument);
    if (now.held != nullptr) drop_library(now.held);
    forget_thread_object(now.library);
  }
}

void end_after_others(own_thread& self) {
  destroy_values(self);
  leave_mutexes();
  __atomic_store_n(&self.record->result, self.result, __ATOMIC_RELEASE);
  __atomic_fetch_or(&self.record->now, thread_record::ended, __ATOMIC_ACQ_REL);
  (void)!wait_until([] { return load(threads().living) == 0; });
  self.last_calls = nullptr;  // libc leaves thread_local objects of main() alone then
  ::exit(0);
}

namespace {

enum : int { unknown, no, yes };
constinit std::atomic<int> g_jumps{unknown};

/// nongnu's libunwind is libunwind.so.8, and libgcc's in what concerns threads.
bool is_unwinder_of_llvm(const char* path) noexcept {
  constexpr char name[] = "libunwind.so.1";
  constexpr std::size_t length = sizeof name - 1;
  const char* const slash = ::strrchr(path, '/');
  const char* const last = slash != nullptr ? slash + 1 : path;
  return ::strncmp(last, name, length) == 0 && (last[length] == 0 || last[length] == '.');
}

}  // namespace

bool ends_by_jump() noexcept {
  if (g_jumps.load() == unknown) {
    Dl_info about{};
    const void* const found = ::dlsym(RTLD_DEFAULT, "_Unwind_GetLanguageSpecificData");
    const bool is_other = found != nullptr && ::dladdr(found, &about) != 0 && about.dli_fname != nullptr &&
                          is_unwinder_of_llvm(about.dli_fname);
    g_jumps.store(is_other ? yes : no);
  }
  return g_jumps.load() == yes;
}

void leave_thread(void* result) {
  if (own_thread* const self = own(); self != nullptr) {
    self->leaves = true;
    self->result = result;
    if (self->has_beginning) _longjmp(self->beginning, 1);
    if (ends_by_jump() && self->body == nullptr && self->record != nullptr) end_after_others(*self);  // main()
  }
  QUIRE_NEXT(pthread_exit)(result);
  __builtin_unreachable();
}

bool is_cancelled_here() noexcept {
  const own_thread* const self = own();
  if (self == nullptr || self->cancel_state != PTHREAD_CANCEL_ENABLE) return false;
  return self->record != nullptr ? are_threads_open() && (load(self->record->now) & thread_record::cancelled) != 0
                                 : load(self->cancelled) != 0;
}

void look_at_cancellation() {
  if (!is_cancelled_here()) return;
  own()->cancel_state = PTHREAD_CANCEL_DISABLE;
  leave_thread(PTHREAD_CANCELED);
}

}  // namespace quire::program

using namespace quire::program;

QUIRE_LIBC void pthread_exit(void* result) { leave_thread(result); }

/// This library's: libc takes no null for one.
extern "C" void* __dso_handle __attribute__((visibility("hidden")));

namespace {

using register_function = int(void (*)(void*), void*, void*);

void make_last_call(void* at) {
  auto* const kept = static_cast<own_thread::last_call*>(at);
  const own_thread::last_call now = *kept;
  destroy_private(kept);
  now.what(now.argument);
  forget_thread_object(now.library);
}

int keep_last_call(void (*what)(void*), void* argument, void* library, register_function* libcs) noexcept {
  own_thread* const self = own();
  if (self == nullptr && !is_loaded_later(library)) return libcs(what, argument, library);
  note_thread_object(library);
  auto* const kept =
      make_private<own_thread::last_call>(what, argument, library, self != nullptr ? hold_library(library) : nullptr,
                                          self != nullptr ? self->last_calls : nullptr);
  if (self == nullptr) return libcs(make_last_call, kept, &__dso_handle);
  self->last_calls = kept;
  return 0;
}

}  // namespace

QUIRE_LIBC int __cxa_thread_atexit(void (*what)(void*), void* argument, void* library) noexcept {
  return keep_last_call(what, argument, library, QUIRE_NEXT_AS(register_function, "__cxa_thread_atexit"));
}
QUIRE_LIBC int __cxa_thread_atexit_impl(void (*what)(void*), void* argument, void* library) noexcept {
  return keep_last_call(what, argument, library, QUIRE_NEXT_AS(register_function, "__cxa_thread_atexit_impl"));
}
