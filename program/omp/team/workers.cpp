// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/workers.hpp"

#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <initializer_list>
#include <mutex>

#include "program/omp/team/members.hpp"
#include "program/omp/team/patience.hpp"
#include "program/posix/memory/stacks.hpp"
#include "program/posix/memory/thread_data.hpp"
#include "program/posix/pthreads/start_at.hpp"
#include "program/posix/threads/interrupts.hpp"
#include "program/process/fail.hpp"
#include "program/process/programs_mask.hpp"

namespace quire::program {
namespace {

struct worker {
  std::atomic<std::uint32_t> round{0};  ///< of the last region that it was called to
  std::byte* top = nullptr;
  team* of = nullptr;
  int number = 0;
};

// No container: what a thread on a shared stack allocates is shared.
std::array<worker, most_workers> g_workers;
std::mutex g_workers_guard;  ///< of what follows
int g_started = 0;
int g_outermost = 0;                        ///< workers of the outermost region
int g_busy = 0;                             ///< beyond these
std::atomic<int> g_threads{1};              ///< of the outermost region, and in it
std::atomic<std::uint32_t> g_on_stacks{0};  ///< workers that are on their shared stacks

void work(void* at) noexcept {
  const worker& self = *static_cast<worker*>(at);
  take_part(*self.of, self.number);
}

void* live(void* argument) noexcept {
  worker& self = *static_cast<worker*>(argument);
  begin_to_let_in();
  note_own_mask();
  remember_private_stack();
  for (std::uint32_t round = 0;; ++round) {
    wait_while(self.round, round, g_threads.load(std::memory_order_relaxed));
    call_on(self.top, work, &self);
    if (g_on_stacks.fetch_sub(1, std::memory_order_acq_rel) == 1) g_on_stacks.notify_all();
  }
}

/// Signals of the process are the main thread's business; SIGPIPE is the one's that writes. A handler that faulted
/// before a thread has its alternate stack would take that away again.
void need_workers(int count) noexcept {
  if (count > most_workers) fail("a node has too many threads", QUIRE_LIMIT);
  if (g_started >= count) return;
  note_programs_mask();
  sigset_t others, before;
  ::sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPIPE}) ::sigdelset(&others, own);
  ::pthread_sigmask(SIG_BLOCK, &others, &before);
  for (; g_started < count; ++g_started) {
    worker& w = g_workers[static_cast<std::size_t>(g_started)];
    w.top = make_stack(job().stack_bytes);
    start_thread_at(static_cast<std::size_t>(g_started) + 1, live, &w, true);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void call_workers(team& t, int first_number, int count, bool outermost) noexcept {
  if (count == 0 && !outermost) return;
  const std::lock_guard held(g_workers_guard);
  if (outermost) {  // no region is within another one now
    g_outermost = count;
    for (int i = count; i < g_started; ++i) g_workers[static_cast<std::size_t>(i)].of = nullptr;
  }
  need_workers(g_outermost + (outermost ? 0 : g_busy + count));
  g_on_stacks.fetch_add(static_cast<std::uint32_t>(count), std::memory_order_acq_rel);
  g_threads.store(1 + g_outermost + (outermost ? 0 : g_busy + count), std::memory_order_relaxed);
  int given = 0;
  for (int i = outermost ? 0 : g_outermost; given < count; ++i) {
    worker& w = g_workers[static_cast<std::size_t>(i)];
    if (!outermost && w.of != nullptr) continue;
    w.of = &t;
    w.number = first_number + given++;
    w.round.fetch_add(1, std::memory_order_release);
    w.round.notify_one();
  }
  if (!outermost) g_busy += count;
}

void release_workers(team& t) noexcept {
  const std::lock_guard held(g_workers_guard);
  for (int i = g_outermost; i < g_started; ++i) {
    worker& w = g_workers[static_cast<std::size_t>(i)];
    if (w.of != &t) continue;
    w.of = nullptr;
    --g_busy;
  }
}

int idle_workers() noexcept {
  const std::lock_guard held(g_workers_guard);
  return most_workers - g_outermost - g_busy;
}

void wait_for_workers() noexcept {
  for (std::uint32_t left = 0; (left = g_on_stacks.load(std::memory_order_acquire)) != 0;)
    g_on_stacks.wait(left, std::memory_order_acquire);
}

}  // namespace quire::program
