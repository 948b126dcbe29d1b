// SPDX-License-Identifier: BSD-3-Clause
// Signals in bad_input_program: handlers that were there before the start, and handlers that come after it and pass on
// what is not theirs.
#pragma once

#include <pthread.h>
#include <quire/system.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "node.hpp"

namespace quire::test {

inline void start() { REQUIRE_OK(quire_start(nullptr)); }

inline void* volatile g_null = nullptr;
inline std::atomic<int> g_signals{0};
inline struct sigaction g_before;

inline void says_and_exits(int signal, siginfo_t* info, void*) {
  ::_exit(info->si_addr == nullptr && signal == SIGSEGV ? 77 : 78);
}
inline void counts_and_passes_on(int signal, siginfo_t* info, void* context) {
  ++g_signals;
  if (info->si_addr == nullptr) ::_exit(77);
  if ((g_before.sa_flags & SA_SIGINFO) != 0) g_before.sa_sigaction(signal, info, context);
}
inline void install(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction* before) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  REQUIRE(::sigaction(signal, &action, before) == 0);
}
inline void share_a_little(const char* name) {
  auto* words = shared_object<std::uint64_t>(name, 2048);
  for (std::size_t i = 0; i < 2048; i += 256) std::atomic_ref(words[i]).fetch_add(1);
  barrier();
  for (std::size_t i = 0; i < 2048; i += 256) REQUIRE_EQUAL(words[i], quire_nodes());
}
/// Node 1 dereferences NULL; the others wait at a barrier for what becomes of it.
[[noreturn]] void node_1_dereferences_null() {
  barrier();
  if (quire_node() == 1) *static_cast<volatile int*>(g_null) = 1;
  static_cast<void>(quire_barrier_wait(quire_barrier{0}));
  fail(__FILE__, __LINE__, "the program went on");
}

/// The core file of a crash has what this node used of the shared memory, and is written in a moment though a terabyte
/// is mapped.
inline void null_with_core() {
  char folder[] = "/tmp/core.quire.XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr && ::chdir(folder) == 0);
  std::printf("%s\n", folder);
  std::fflush(stdout);
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  REQUIRE(::setrlimit(RLIMIT_CORE, &unlimited) == 0);
  start();
  auto* const text = shared_object<char>("text", 100);
  std::snprintf(text, 100, "%s %d", "this text is in shared memory, on node", quire_node());
  *static_cast<volatile int*>(g_null) = 1;
}
inline void null_by_default() {
  start();
  share_a_little("a");
  node_1_dereferences_null();
}
inline void null_with_earlier_handler() {
  install(SIGSEGV, says_and_exits, nullptr);
  install(SIGBUS, says_and_exits, nullptr);
  start();
  share_a_little("a");
  node_1_dereferences_null();
}
/// Handlers that came later see nothing of shared memory, and NULL; and the program sees them, and what it had before.
inline void null_with_later_handler() {
  start();
  share_a_little("a");
  const char* mode = std::getenv("QUIRE_DETECT");
  const bool by_segv = mode != nullptr && mode == std::string("segv");
  install(by_segv ? SIGSEGV : SIGBUS, counts_and_passes_on, &g_before);
  REQUIRE(g_before.sa_handler == SIG_DFL);
  if (!by_segv) install(SIGSEGV, counts_and_passes_on, nullptr);
  struct sigaction seen {};
  REQUIRE(::sigaction(by_segv ? SIGSEGV : SIGBUS, nullptr, &seen) == 0 && seen.sa_sigaction == counts_and_passes_on);
  share_a_little("b");
  REQUIRE_EQUAL(g_signals, 0);
  node_1_dereferences_null();
}
/// A SIGBUS that is the application's own: a mapped file that has become shorter.
inline void bus_error() {
  install(
      SIGBUS, [](int, siginfo_t*, void*) { ::_exit(79); }, nullptr);
  start();
  share_a_little("a");
  const int fd = ::memfd_create("short", 0);
  auto* at = static_cast<volatile char*>(::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
  barrier();
  if (quire_node() == 1) static_cast<void>(*at);
  static_cast<void>(quire_barrier_wait(quire_barrier{0}));
}
/// Shared addresses that no region covers are wrong addresses.
inline void beyond_all_regions() {
  start();
  barrier();
  if (quire_node() == 1) *reinterpret_cast<volatile char*>(0x200000000000 + (std::uint64_t{1000} << 30)) = 1;
  static_cast<void>(quire_barrier_wait(quire_barrier{0}));
}
inline void used_after_end() {
  start();
  auto* words = shared_object<volatile std::uint64_t>("words", 8);
  REQUIRE_OK(quire_end());
  words[0] = 1;
}
/// A range that the program has guarded: beside it all is as ever, and arguments are checked.
inline void guarded() {
  start();
  constexpr std::size_t large = 4u << 20;
  void* at = nullptr;
  REQUIRE_OK(quire_malloc(large, &at));
  auto* const bytes = static_cast<volatile char*>(at);
  int private_byte = 0;
  REQUIRE_STATUS(quire_run_heap(), QUIRE_EXISTS);
  REQUIRE_STATUS(quire_guard(at, 0, "words"), QUIRE_INVALID);
  REQUIRE_STATUS(quire_guard(at, large, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_guard(&private_byte, 1, "words"), QUIRE_BAD_ADDRESS);
  int closed = 0;
  REQUIRE_STATUS(quire_pages_close(at, 100), QUIRE_INVALID);
  REQUIRE_STATUS(quire_pages_close(static_cast<char*>(at) + 16, 4096), QUIRE_INVALID);
  REQUIRE_STATUS(quire_pages_close(reinterpret_cast<void*>(4096), 4096), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_pages_closed(at, 4096, nullptr), QUIRE_INVALID);
  bytes[large - 1] = 3;
  REQUIRE_OK(quire_pages_close(const_cast<char*>(bytes) + large - 4096, 4096));
  REQUIRE_OK(quire_pages_closed(at, large, &closed));
  REQUIRE(closed == 1);
  quire_pages written{};
  REQUIRE_STATUS(quire_pages_written(at, 0, &written), QUIRE_INVALID);
  REQUIRE_STATUS(quire_pages_written(at, 100, &written), QUIRE_INVALID);
  REQUIRE_STATUS(quire_pages_written(at, 4096, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_pages_written(reinterpret_cast<void*>(4096), 4096, &written), QUIRE_BAD_ADDRESS);
  const quire_status told = quire_pages_written(at, large, &written);  // not where a detector scans
  REQUIRE(told == QUIRE_UNSUPPORTED || (told == QUIRE_OK && written.next == large - 4096 &&
                                        written.bits[(large / 4096 - 1) / 64] == std::uint64_t{1} << 63));
  REQUIRE_OK(quire_pages_open(at, large));
  REQUIRE_OK(quire_pages_closed(at, large, &closed));
  REQUIRE(closed == 0 && bytes[large - 1] == 3);
  void* first = nullptr;
  std::uint64_t all = 0;
  int taken = 0;
  REQUIRE_STATUS(quire_allocation_around(at, &first, &all, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_allocation_around(&private_byte, &first, &all, &taken), QUIRE_BAD_ADDRESS);
  REQUIRE_OK(quire_allocation_around(static_cast<char*>(at) + 5000, &first, &all, &taken));
  REQUIRE(first == at && all == large && taken == 1);
  REQUIRE_STATUS(quire_calloc_at(at, 4096), QUIRE_EXISTS);
  REQUIRE_STATUS(quire_calloc_at(static_cast<char*>(at) + large, 100), QUIRE_INVALID);
  REQUIRE_STATUS(quire_calloc_at(reinterpret_cast<void*>(4096), 4096), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_free_now(static_cast<char*>(at) + 16, 0), QUIRE_BAD_ADDRESS);
  REQUIRE_OK(quire_free_now(nullptr, 0));
  REQUIRE_OK(quire_guard(at, large / 2, "this is the guarded half"));
  for (std::size_t i = large / 2; i < large; i += 4096) bytes[i] = 1;
  barrier();
  if (quire_node() == 1) bytes[large / 2 - 1] = 1;
  barrier();
}
/// A program that keeps signals away from its threads, as many do, and then shares memory from them.
inline void all_signals_blocked() {
  start();
  auto* words = shared_object<std::uint64_t>("words", 4096);
  barrier();
  std::thread blocked([&] {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (std::size_t i = 0; i < 4096; i += 100) std::atomic_ref(words[i]).fetch_add(1);
  });
  blocked.join();
  barrier();
  for (std::size_t i = 0; i < 4096; i += 100) REQUIRE_EQUAL(words[i], quire_nodes());
  REQUIRE_OK(quire_end());
}
/// A timer whose handler touches shared memory, also while its thread is in a call of Quire or in a fault.
inline void handlers_that_share() {
  start();
  static std::uint64_t* words = shared_object<std::uint64_t>("words", 8192);
  static std::atomic<std::uint64_t> ticks{0};
  barrier();
  struct sigaction action {};
  action.sa_handler = [](int) {
    const int saved = errno;
    std::atomic_ref(words[512 * (ticks++ % 16)]).fetch_add(1);
    errno = saved;
  };
  action.sa_flags = SA_RESTART;
  REQUIRE(::sigaction(SIGALRM, &action, nullptr) == 0);
  const itimerval often{{0, 2000}, {0, 2000}}, never{};
  REQUIRE(::setitimer(ITIMER_REAL, &often, nullptr) == 0);
  const double until = now_seconds() + 1;
  quire_mutex mutex{};
  REQUIRE_OK(quire_mutex_create(&mutex));
  while (now_seconds() < until) {
    REQUIRE_OK(quire_mutex_lock(mutex));
    std::atomic_ref(words[1]).fetch_add(1);
    REQUIRE_OK(quire_mutex_unlock(mutex));
    void* block = nullptr;
    REQUIRE_OK(quire_malloc(100, &block));
    REQUIRE_OK(quire_free(block));
    std::uint64_t before;
    REQUIRE_OK(quire_fetch_add(words + 513, 1, &before));
  }
  REQUIRE(::setitimer(ITIMER_REAL, &never, nullptr) == 0);
  auto* all_ticks = shared_object<std::uint64_t>("ticks");
  std::uint64_t before;
  REQUIRE_OK(quire_fetch_add(all_ticks, ticks, &before));
  barrier();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 16; ++i) sum += words[512 * i];
  REQUIRE_EQUAL(sum, *all_ticks);
  REQUIRE(sum > 10);
  REQUIRE_OK(quire_end());
}

}  // namespace quire::test
