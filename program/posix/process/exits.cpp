// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/process/exits.hpp"

#include <pthread.h>
#include <quire/system.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "os/signals_held.hpp"
#include "program/job/shared_state.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/mapped/files.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"

namespace quire::program {
namespace {

const pid_t g_process = ::getpid();
/// Not a child of vfork(2), which has this memory.
bool is_node() noexcept { return static_cast<pid_t>(::syscall(SYS_getpid)) == g_process; }

constexpr std::uint64_t quick_exit_bit = std::uint64_t{1} << 40;  ///< of shared_state::exit_status
std::atomic<int> g_quick_status{0};

thread_local bool t_watches = false;
std::mutex g_guard;
bool g_over = false;  ///< the job ends, and shared memory with it

/// Handlers of the program run in this thread, as they would in that which has called exit(3).
void* watch_exits(void*) noexcept {
  t_watches = true;
  for (;;) {
    static constexpr timespec often{0, 5'000'000};
    ::nanosleep(&often, nullptr);
    std::uint64_t asked = 0;
    {
      const std::lock_guard held(g_guard);
      if (g_over) return nullptr;
      asked = __atomic_load_n(&shared().exit_status, __ATOMIC_ACQUIRE);
    }
    if (asked == 0) continue;
    const auto status = static_cast<int>(static_cast<std::uint32_t>((asked & ~quick_exit_bit) - 1));
    (asked & quick_exit_bit) != 0 ? std::quick_exit(status) : std::exit(status);
  }
}

}  // namespace

void stop_watching() noexcept {
  const std::lock_guard held(g_guard);
  g_over = true;
}

bool is_exit_watcher() noexcept { return t_watches; }

bool is_exit_begun() noexcept {
  static std::atomic<bool> begun{false};
  thread_local bool t_begins = false;  // a handler may call exit(3) again
  if (t_begins) return false;
  t_begins = !begun.exchange(true);
  return !t_begins;
}

void watch_for_exits() noexcept {
  const os::signals_held by_the_thread;
  pthread_t thread;
  const int error = ::pthread_create(&thread, nullptr, watch_exits, nullptr);
  if (error != 0) fail_for_thread(error);
  ::pthread_detach(thread);
}

namespace {

/// This node's, before handlers write on node 0. Another thread may have the lock, and keep it.
void flush_output() noexcept {
  static constexpr timespec a_while{0, 1'000'000};
  constexpr int most = 500;
  for (int tries = 0; QUIRE_NEXT(ftrylockfile)(stdout) != 0; ++tries) {
    if (tries == most) return;
    ::nanosleep(&a_while, nullptr);
  }
  (void)QUIRE_NEXT(fflush_unlocked)(stdout);
  QUIRE_NEXT(funlockfile)(stdout);
}

/// Streams may be lost, mappings are not.
[[noreturn]] void end_at_once(int status) noexcept {
  mapped::write_mapped_files();
  quire_exit(status);
}

}  // namespace

void exit_on_node_0(int status, exit_kind how) noexcept {
  flush_output();
  std::uint64_t expected = 0;
  int done = 0;
  const std::uint64_t asked = std::uint64_t{static_cast<std::uint32_t>(status)} + 1;
  (void)!quire_compare_exchange(&shared().exit_status, &expected,
                                how == exit_kind::quick ? asked | quick_exit_bit : asked, &done);
  for (;;) ::pause();
}

/// The first that is registered is the last that runs.
void end_job_by_quick_exit() noexcept {
  (void)::at_quick_exit([] {
    if (is_node()) end_at_once(g_quick_status.load());
  });
}

}  // namespace quire::program

using namespace quire::program;

/// Its handlers are registered, and run, on node 0.
QUIRE_LIBC void quick_exit(int status) noexcept {
  if (is_node() && job().node != 0) exit_on_node_0(status, exit_kind::quick);
  g_quick_status.store(status);
  QUIRE_NEXT(quick_exit)(status);
  __builtin_unreachable();
}

/// Of the program: it ends all nodes. Unlike libc's, this one writes what streams hold.
extern "C" __attribute__((visibility("default"))) void _exit(int status) {
  if (is_node() && from_program(QUIRE_CALLER)) end_at_once(status);
  ::syscall(SYS_exit_group, status);
  __builtin_unreachable();
}
extern "C" __attribute__((visibility("default"))) void _Exit(int status) {
  if (is_node() && from_program(QUIRE_CALLER)) end_at_once(status);
  ::syscall(SYS_exit_group, status);
  __builtin_unreachable();
}
