// SPDX-License-Identifier: BSD-3-Clause
// Contract of threads whose stack is shared: all calls are made from it, by the main thread and by another, while
// another node takes the stack's pages away again and again. Arguments and results lie on it, and buffers of system
// calls.
#include <pthread.h>
#include <quire/quire.hpp>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096, stack_bytes = 64 * page;

struct shared_words {
  std::uint64_t counter, locked, stop;
};
std::byte* g_stacks = nullptr;  ///< one a node
shared_words* g_words = nullptr;
quire_mutex g_mutex;
quire_group g_group;
ucontext_t g_outside, g_inside;

std::byte* stack_of(int node) { return g_stacks + static_cast<std::size_t>(node) * stack_bytes; }
bool is_here(const void* at) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(at) - stack_of(quire_node())) < stack_bytes;
}

void* twice(void* argument) { return reinterpret_cast<void*>(2 * reinterpret_cast<std::uintptr_t>(argument)); }

void calls_of_locks_and_memory(int round) {
  std::uint64_t before = 0;
  REQUIRE(is_here(&before));
  REQUIRE_OK(quire_fetch_add(&g_words->counter, 1, &before));
  REQUIRE_OK(quire_mutex_lock(g_mutex));
  ++g_words->locked;
  REQUIRE_OK(quire_mutex_unlock(g_mutex));
  void* made = nullptr;
  REQUIRE_OK(quire_malloc(100, &made));
  std::size_t size = 0;
  REQUIRE_OK(quire_allocation_size(made, &size));
  REQUIRE(size >= 100);
  quire_region of{1};
  REQUIRE_OK(quire_region_of(made, &of));
  REQUIRE_EQUAL(of.id, 0);
  REQUIRE_OK(quire_free(made));
  REQUIRE_STATUS(quire_free(&before), QUIRE_BAD_ADDRESS);
  REQUIRE(quire_last_error()[0] != 0);
  char name[60];
  std::snprintf(name, sizeof name, "of node %d, thread %d, %d", quire_node(), quire_thread(), round);
  REQUIRE_OK(quire_publish(name, g_words));
  void* found = nullptr;
  REQUIRE_OK(quire_lookup(name, 1000, &found));
  REQUIRE(found == g_words);
  quire_remote_thread thread{};
  REQUIRE_OK(quire_spawn((quire_node() + 1) % quire_nodes(), twice, reinterpret_cast<void*>(21), &thread));
  void* result = nullptr;
  REQUIRE_OK(quire_join(thread, &result));
  REQUIRE_EQUAL(reinterpret_cast<std::uintptr_t>(result), 42);
}

void collectives() {
  const auto nodes = static_cast<std::int64_t>(quire_nodes());
  std::int64_t values[8] = {1, quire_node()};
  REQUIRE_OK(quire_reduce_i64(values, 2, QUIRE_SUM));
  REQUIRE_EQUAL(values[0], nodes);
  REQUIRE_EQUAL(values[1], nodes * (nodes - 1) / 2);
  int told = quire_node() == 0 ? 7 : 0;
  REQUIRE_OK(quire_broadcast(&told, sizeof told, 0));
  REQUIRE_EQUAL(told, 7);
  std::int64_t array[4096];  // travels in pieces, or not at all
  for (std::int64_t i = 0; i < 4096; ++i) array[i] = i;
  REQUIRE_OK(quire_group_reduce_i64(g_group, array, 4096, QUIRE_SUM));
  for (std::int64_t i = 0; i < 4096; ++i) REQUIRE_EQUAL(array[i], nodes * i);
  REQUIRE_OK(quire_group_reduce_i64(g_group, array, 1, QUIRE_MAX));
  REQUIRE_OK(quire_group_wait(g_group));
  barrier();
}

void system_calls() {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  char out[6] = "hello", in[6] = {};
  REQUIRE(::write(ends[1], out, sizeof out) == sizeof out && ::read(ends[0], in, sizeof in) == sizeof in);
  REQUIRE(std::strcmp(in, "hello") == 0);
  ::close(ends[0]);
  ::close(ends[1]);
  struct stat about {};
  REQUIRE(::stat("/", &about) == 0 && S_ISDIR(about.st_mode));
  timeval now{};
  REQUIRE(::gettimeofday(&now, nullptr) == 0 && now.tv_sec != 0);
  timespec little{0, 1000};
  REQUIRE(::nanosleep(&little, nullptr) == 0);
}

void* wait_for(void* at) {
  while (!static_cast<std::atomic<bool>*>(at)->load()) std::this_thread::yield();
  return at;
}

/// libc holds all signals in the middle of these.
void calls_that_hold_signals(std::atomic<bool>& told) {
  for (int i = 0; i < 20; ++i) {
    told.store(false);
    pthread_t made{};
    pthread_attr_t about;
    REQUIRE(::pthread_attr_init(&about) == 0 && ::pthread_attr_setstacksize(&about, 1 << 18) == 0);
    REQUIRE_EQUAL(::pthread_create(&made, i % 2 == 0 ? &about : nullptr, wait_for, &told), 0);
    REQUIRE_EQUAL(::pthread_kill(made, 0), 0);
    REQUIRE_EQUAL(::pthread_sigqueue(made, SIGURG, sigval{}), 0);  // ignored, where nobody handles it
    told.store(true);
    void* result = nullptr;
    REQUIRE(::pthread_join(made, &result) == 0 && result == &told);
    REQUIRE(::pthread_attr_destroy(&about) == 0);
  }
  char name[] = "true";
  char* words[] = {name, nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  REQUIRE(::posix_spawn_file_actions_init(&actions) == 0 && ::posix_spawnattr_init(&attributes) == 0);
  for (const bool with : {false, true}) {
    pid_t child = 0;
    REQUIRE_EQUAL(::posix_spawnp(&child, name, with ? &actions : nullptr, with ? &attributes : nullptr, words, environ),
                  0);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child && status == 0);
  }
  REQUIRE(::posix_spawn_file_actions_destroy(&actions) == 0 && ::posix_spawnattr_destroy(&attributes) == 0);
  REQUIRE_EQUAL(::system("exit 3"), 3 << 8);
}

std::atomic<bool> g_told;  ///< one thread at a time runs on the shared stack

void on_shared_stack() {
  for (int round = 0; round < 30; ++round) {
    calls_of_locks_and_memory(round);
    collectives();
    system_calls();
    calls_that_hold_signals(g_told);
  }
  REQUIRE_STATUS(quire_end(), QUIRE_UNSUPPORTED);
  REQUIRE(std::strstr(quire_last_error(), "stack in shared memory") != nullptr);
  ::swapcontext(&g_inside, &g_outside);
}

/// Its stack is at another node as often as here.
void run() {
  REQUIRE_OK(quire_group_join(g_group, 0));
  REQUIRE(::getcontext(&g_inside) == 0);
  g_inside.uc_stack.ss_sp = stack_of(quire_node());
  g_inside.uc_stack.ss_size = stack_bytes;
  g_inside.uc_link = nullptr;
  ::makecontext(&g_inside, on_shared_stack, 0);
  ::swapcontext(&g_outside, &g_inside);
  REQUIRE_OK(quire_group_leave(g_group));
}

/// Reads all stacks, so that their owners have to ask before they write.
void take_away() {
  while (std::atomic_ref(g_words->stop).load() == 0) {
    for (std::size_t at = 0; at < stack_bytes * static_cast<std::size_t>(quire_nodes()); at += page)
      (void)static_cast<volatile std::byte*>(g_stacks)[at];
    sleep_ms(1);
  }
}

}  // namespace

int main() {
  REQUIRE_OK(quire_start(nullptr));
  void* shared[2] = {};
  if (quire_node() == 0) {
    REQUIRE_OK(quire_aligned_alloc(page, stack_bytes * static_cast<std::size_t>(quire_nodes()), &shared[0]));
    REQUIRE_OK(quire_calloc(1, page, &shared[1]));
    REQUIRE_OK(quire_mutex_create(&g_mutex));
  }
  REQUIRE_OK(quire_broadcast(shared, sizeof shared, 0));
  REQUIRE_OK(quire_broadcast(&g_mutex, sizeof g_mutex, 0));
  REQUIRE_OK(quire_group_create(1, &g_group));
  g_stacks = static_cast<std::byte*>(shared[0]);
  g_words = static_cast<shared_words*>(shared[1]);
  barrier();
  std::thread other(take_away);
  run();                    // the main thread
  std::thread(run).join();  // and one that never called before
  barrier();
  REQUIRE_EQUAL(g_words->counter, 60 * quire_nodes());
  REQUIRE_EQUAL(g_words->locked, 60 * quire_nodes());
  barrier();
  if (quire_node() == 0) std::atomic_ref(g_words->stop).store(1);
  other.join();
  REQUIRE_OK(quire_group_destroy(g_group));
  REQUIRE_OK(quire_end());
  return 0;
}
