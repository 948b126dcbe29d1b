// SPDX-License-Identifier: BSD-3-Clause
// Threads that the program makes itself. They have shared stacks, as others may follow pointers to what is on them.
// Where the program has OpenMP they run on the node where they are made; else placement.hpp says on which.
#include <cxxabi.h>
#include <errno.h>

#include <atomic>
#include <cstdio>
#include <new>

#include "program/job/job.hpp"
#include "program/posix/errands/actions.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/memory/stacks.hpp"
#include "program/posix/memory/thread_data.hpp"
#include "program/posix/process/signals.hpp"
#include "program/posix/pthreads/robust.hpp"
#include "program/posix/pthreads/starting.hpp"
#include "program/posix/pthreads/told_apart.hpp"
#include "program/posix/threads/cancellation.hpp"
#include "program/posix/threads/elsewhere.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"
#include "program/process/once.hpp"
#include "program/process/private_memory.hpp"
#include "program/process/waiting.hpp"

namespace quire::program {
namespace {

std::atomic<int> g_running{0};

/// It may allocate, and use what others share.
void end_of_life(own_thread& self) {
  self.cancel_state = PTHREAD_CANCEL_DISABLE;
  run_last_calls(self);
  destroy_values(self);
}

void live_to_jump(own_thread& self) {
  self.has_beginning = true;
  if (_setjmp(self.beginning) == 0) self.result = self.body(self.argument);
  self.has_beginning = false;
  end_of_life(self);
}

/// The body, on the shared stack, and what comes at the end of a thread.
void live(void* at) {
  auto& self = *static_cast<own_thread*>(at);
  if (ends_by_jump()) return live_to_jump(self);
  try {
    self.result = self.body(self.argument);
  } catch (abi::__forced_unwind&) {
    if (!self.leaves) self.result = PTHREAD_CANCELED;
    end_of_life(self);
    throw;
  }
  end_of_life(self);
}

/// Others may take its place, its stack and its result from now on.
void tell_end(const own_thread& self) noexcept {
  if (self.record == nullptr) return;
  if (job().node != 0) (void)std::fflush(stdout);
  self.record->result = self.result;
  __atomic_fetch_sub(&running_on(job().node), 1, __ATOMIC_ACQ_REL);
  __atomic_fetch_or(&self.record->now, thread_record::ended, __ATOMIC_ACQ_REL);
  __atomic_fetch_sub(&threads().living, 1, __ATOMIC_ACQ_REL);
}

/// On the private stack, after libc's own last calls.
void count_end(void*) noexcept { g_running.fetch_sub(1); }

pthread_key_t key_of_end() noexcept {
  static constinit made_once made;
  static constinit pthread_key_t key{};
  made.run([] { (void)::pthread_key_create(&key, count_end); });
  return key;
}

/// Also where a thread is unwound.
struct life {
  own_thread& self;
  explicit life(own_thread& s) noexcept : self(s) {
    leave_cancellation_to_us();
    set_own(&self);
    if (self.record != nullptr) note_own(self);
    (void)::pthread_setspecific(key_of_end(), &self);
    if (self.stack_bytes != 0) self.top = take_stack(self.stack_bytes);
    remember_private_stack();
  }
  life(const life&) = delete;
  life& operator=(const life&) = delete;
  ~life() {
    (void)os::hold_signals();  // who waits for its place holds what they may want
    if (self.stack_bytes != 0) give_stack_back(self.top, self.stack_bytes);
    leave_mutexes();
    forget_own(self);
    tell_end(self);
    set_own(nullptr);
    destroy_private(&self);
  }
};

void* run(void* at) {
  auto& self = *static_cast<own_thread*>(at);
  void* const* const result = &self.result;
  const bool joins_itself = self.record == nullptr;
  void* value = nullptr;
  {
    const life here(self);
    if (self.record != nullptr) repeat_actions();
    prepare_for_handlers();
    (void)::pthread_sigmask(SIG_SETMASK, &self.mask, nullptr);
    call_on(self.top, live, &self);
    value = *result;
  }
  return joins_itself ? value : nullptr;
}

own_thread* new_own(const new_thread& wanted, thread_record* record) noexcept {
  auto* const self = make_private<own_thread>();
  self->record = record;
  self->body = wanted.body;
  self->argument = wanted.argument;
  self->top = wanted.top;
  self->stack_bytes = wanted.top != nullptr ? 0 : wanted.stack_bytes;
  self->given_bytes = wanted.chosen_bytes;
  self->mask = wanted.mask;
  return self;
}

/// A thread of a program with OpenMP: libc's in all but the stack.
int make_here(pthread_t* thread, const pthread_attr_t* about, const new_thread& wanted) noexcept {
  pthread_attr_t plain;
  if (wanted.has_shared_stack) {
    (void)::pthread_attr_init(&plain);
    (void)::pthread_attr_setdetachstate(&plain, wanted.detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
  }
  own_thread* const self = new_own(wanted, nullptr);
  g_running.fetch_add(1);
  struct {
    pthread_t* thread;
    const pthread_attr_t* about;
    own_thread* self;
  } given{thread, wanted.has_shared_stack ? &plain : about, self};
  const int error = make_known(
      *self, *thread,
      [](void* at) {
        const auto& g = *static_cast<decltype(given)*>(at);
        return make_told_apart(g.thread, g.about, run, g.self);
      },
      &given);
  if (wanted.has_shared_stack) (void)::pthread_attr_destroy(&plain);
  if (error == 0) return 0;
  g_running.fetch_sub(1);
  destroy_private(self);
  tell_of_thread(error);
  return error;
}

void* start_for_other(void* at) noexcept {
  start_here(*static_cast<new_thread*>(at));
  return nullptr;
}

int node_of_next() noexcept {
  const std::uint64_t number = __atomic_fetch_add(&threads().made, 1, __ATOMIC_ACQ_REL);
  return node_of_new_thread(threads_placement(), job().nodes, job().node, number,
                            [](int node) { return __atomic_load_n(&running_on(node), __ATOMIC_RELAXED); });
}

}  // namespace

int own_threads() noexcept { return g_running.load(); }

void start_here(new_thread& wanted) noexcept {
  const os::signals_held none;  // libc, too, has locks that a handler may wait for
  const std::size_t number = take_place(thread_record::running | (wanted.detached ? thread_record::detached : 0u));
  if (number == 0) {
    wanted.error = EAGAIN;
    return;
  }
  pthread_attr_t about;
  (void)::pthread_attr_init(&about);
  if (wanted.has_affinity) (void)::pthread_attr_setaffinity_np(&about, sizeof wanted.affinity, &wanted.affinity);
  if (wanted.has_schedule) {
    (void)::pthread_attr_setinheritsched(&about, PTHREAD_EXPLICIT_SCHED);
    (void)::pthread_attr_setschedpolicy(&about, wanted.policy);
    (void)::pthread_attr_setschedparam(&about, &wanted.parameters);
  }
  own_thread* const self = new_own(wanted, &record_of(job().node, number));
  g_running.fetch_add(1);
  wanted.handle = handle_of_place(number);
  pthread_t made{};
  wanted.error = create_at_place(number, about, run, self, made);
  (void)::pthread_attr_destroy(&about);
  if (wanted.error == 0) return;
  g_running.fetch_sub(1);
  destroy_private(self);
  give_place(number);
  tell_of_thread(wanted.error);
}

static int make_on(int node, pthread_t* thread, new_thread& wanted) noexcept {
  __atomic_fetch_add(&running_on(node), 1, __ATOMIC_ACQ_REL);
  __atomic_fetch_add(&threads().living, 1, __ATOMIC_ACQ_REL);
  if (node == job().node) {
    run_aside([](void* at) { start_here(*static_cast<new_thread*>(at)); }, &wanted);
  } else {
    if (job().node == 0) (void)std::fflush(stdout);  // what the thread writes comes behind it
    if (!run_on(node, start_for_other, &wanted)) wanted.error = EAGAIN;
    if (wanted.error != 0) tell_of_thread_elsewhere(node, wanted.error);
  }
  if (wanted.error == 0) {
    *thread = wanted.handle;
    return 0;
  }
  __atomic_fetch_sub(&running_on(node), 1, __ATOMIC_ACQ_REL);
  __atomic_fetch_sub(&threads().living, 1, __ATOMIC_ACQ_REL);
  return wanted.error;
}

int make_own_thread(pthread_t* thread, const pthread_attr_t* about, void* (*body)(void*), void* argument) noexcept {
  new_thread wanted = describe(about, body, argument);
  return has_placement() ? make_on(node_of_next(), thread, wanted) : make_here(thread, about, wanted);
}

int make_own_thread_here(pthread_t* thread, const pthread_attr_t* about, void* (*body)(void*),
                         void* argument) noexcept {
  new_thread wanted = describe(about, body, argument);
  return has_placement() ? make_on(job().node, thread, wanted) : make_here(thread, about, wanted);
}

}  // namespace quire::program

using namespace quire::program;

QUIRE_LIBC int pthread_create(pthread_t* thread, const pthread_attr_t* about, void* (*body)(void*),
                              void* argument) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(pthread_create)(thread, about, body, argument);
  return make_own_thread(thread, about, body, argument);
}
