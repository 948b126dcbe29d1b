// SPDX-License-Identifier: BSD-3-Clause
// Wrong use of Quire, one case a run: bad_input_program CASE. What must end the process is judged by bad_input_test.
#include <pthread.h>
#include <quire/system.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>

#include "bad_input_signals.hpp"
#include "node.hpp"

using namespace quire::test;

namespace {

void* nothing(void* argument) { return argument; }

/// Every call of the API with arguments that are right in form, and what it gives. For before the start, after the end,
/// and in a forked child.
struct call_row {
  const char* name;
  std::function<quire_status()> call;
};
std::vector<call_row> all_calls() {
  static void* address;
  static std::uint64_t word, expected;
  static int done;
  static quire_region region;
  static quire_mutex mutex{1};
  static quire_rwlock rwlock{1};
  static quire_condition condition{1};
  static quire_barrier all{}, some{1};
  static quire_event event{1};
  static quire_semaphore semaphore{1};
  static quire_remote_thread thread{1};
  static double real;
  static std::int64_t integer;
  static std::size_t size;
  static quire_counters numbers{};
  numbers.size = sizeof numbers;
#define ROW(expression)                    \
  call_row {                               \
#expression, [] { return expression; } \
  }
  return {
      ROW(quire_end()),
      ROW(quire_region_create(nullptr, 4096, &region)),
      ROW(quire_region_range(region, &address, nullptr)),
      ROW(quire_region_of(&word, &region)),
      ROW(quire_malloc(8, &address)),
      ROW(quire_calloc(1, 8, &address)),
      ROW(quire_calloc(SIZE_MAX, SIZE_MAX, &address)),
      ROW(quire_aligned_alloc(64, 8, &address)),
      ROW(quire_realloc(8, &address)),
      ROW(quire_free(&word)),
      ROW(quire_free(nullptr)),
      ROW(quire_allocation_size(&word, &size)),
      ROW(quire_publish("name", &word)),
      ROW(quire_lookup("name", 0, &address)),
      ROW(quire_lookup("name", -1, &address)),
      ROW(quire_prefetch(&word, 8, 0)),
      ROW(quire_advise(&word, 8, QUIRE_WILL_WRITE)),
      ROW(quire_push(&word, 8)),
      ROW(quire_pin(&word, 8, -1, nullptr)),
      ROW(quire_unpin(&word, 8)),
      ROW(quire_fetch_add(&word, 1, nullptr)),
      ROW(quire_exchange(&word, 1, nullptr)),
      ROW(quire_compare_exchange(&word, &expected, 1, &done)),
      ROW(quire_compare_exchange(&word, nullptr, 1, nullptr)),
      ROW(quire_mutex_create(&mutex)),
      ROW(quire_mutex_lock(mutex)),
      ROW(quire_mutex_try_lock(mutex)),
      ROW(quire_mutex_timed_lock(mutex, 10)),
      ROW(quire_mutex_unlock(mutex)),
      ROW(quire_mutex_destroy(mutex)),
      ROW(quire_rwlock_create(&rwlock)),
      ROW(quire_rwlock_read_lock(rwlock, -1)),
      ROW(quire_rwlock_write_lock(rwlock, -1)),
      ROW(quire_rwlock_unlock(rwlock)),
      ROW(quire_rwlock_destroy(rwlock)),
      ROW(quire_condition_create(&condition)),
      ROW(quire_condition_wait(condition, mutex, -1)),
      ROW(quire_condition_notify_one(condition)),
      ROW(quire_condition_notify_all(condition)),
      ROW(quire_condition_destroy(condition)),
      ROW(quire_barrier_wait(all)),
      ROW(quire_barrier_create(2, &some)),
      ROW(quire_barrier_destroy(some)),
      ROW(quire_event_create(&event)),
      ROW(quire_event_set(event)),
      ROW(quire_event_reset(event)),
      ROW(quire_event_wait(event, -1)),
      ROW(quire_event_destroy(event)),
      ROW(quire_semaphore_create(1, &semaphore)),
      ROW(quire_semaphore_acquire(semaphore, -1)),
      ROW(quire_semaphore_release(semaphore, 1)),
      ROW(quire_semaphore_destroy(semaphore)),
      ROW(quire_reduce_f64(&real, 1, QUIRE_SUM)),
      ROW(quire_reduce_i64(&integer, 1, QUIRE_SUM)),
      ROW(quire_broadcast(&integer, 8, 0)),
      ROW(quire_spawn(0, nothing, nullptr, &thread)),
      ROW(quire_join(thread, &address)),
      ROW(quire_counters_read(&numbers)),
  };
#undef ROW
}
void all_calls_give(quire_status wanted) {
  for (const auto& row : all_calls()) require_status(__FILE__, __LINE__, row.name, row.call(), wanted);
}

void before_and_after() {
  REQUIRE_EQUAL(quire_node(), 0);
  REQUIRE_EQUAL(quire_nodes(), 1);
  all_calls_give(QUIRE_NOT_STARTED);
  quire_options wrong{};
  REQUIRE_STATUS(quire_start(&wrong), QUIRE_INVALID);  // without its size
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{3}, sizeof wrong - 1, sizeof wrong + 1, std::size_t{4096}}) {
    wrong.size = size;
    REQUIRE_STATUS(quire_start(&wrong), QUIRE_INVALID);
  }
  start();
  REQUIRE_STATUS(quire_start(nullptr), QUIRE_EXISTS);
  barrier();
  REQUIRE_OK(quire_end());
  all_calls_give(QUIRE_NOT_STARTED);
  REQUIRE_EQUAL(quire_nodes(), 1);
  REQUIRE_STATUS(quire_start(nullptr), QUIRE_EXISTS);
}

/// What was wrong is said, for each mistake in other words, and of the last call alone.
void explanations() {
  start();
  const auto says = [](int line, const char* call, quire_status got, quire_status wanted, const char* words) {
    require_status(__FILE__, line, call, got, wanted);
    if (std::strstr(quire_last_error(), words) == nullptr)
      fail(__FILE__, line, "%s: \"%s\" does not say \"%s\"", call, quire_last_error(), words);
  };
#define SAYS(expression, status, words) says(__LINE__, #expression, expression, status, words)
  void* at = nullptr;
  quire_mutex mutex{};
  quire_condition condition{};
  std::uint64_t value = 0;
  int done = 0;
  double reals[9] = {};
  SAYS(quire_malloc(0, &at), QUIRE_INVALID, "0 bytes");
  SAYS(quire_malloc(8, nullptr), QUIRE_INVALID, "quire_malloc(): the place for the address is NULL");
  SAYS(quire_malloc(std::size_t{1} << 60, &at), QUIRE_INVALID, "QUIRE_RANGE");
  SAYS(quire_aligned_alloc(24, 8, &at), QUIRE_INVALID, "an alignment of 24");
  SAYS(quire_calloc(SIZE_MAX, 2, &at), QUIRE_INVALID, "quire_calloc()");
  SAYS(quire_realloc(0, &at), QUIRE_INVALID, "quire_free()");
  SAYS(quire_free(&value), QUIRE_BAD_ADDRESS, "no live allocation starts at");
  quire_region region{};
  quire_region_options about{};
  SAYS(quire_region_create(&about, 4096, &region), QUIRE_INVALID, "sizeof(quire_region_options)");
  about.size = sizeof about;
  SAYS(quire_region_create(&about, 0, &region), QUIRE_INVALID, "the size is 0");
  about.unit_bytes = 5000;
  SAYS(quire_region_create(&about, 4096, &region), QUIRE_INVALID, "units of 5000 bytes");
  about.unit_bytes = 0;
  about.placement = QUIRE_PLACE_NODE;
  about.home = 7;
  SAYS(quire_region_create(&about, 4096, &region), QUIRE_INVALID, "no node 7");
  SAYS(quire_publish(nullptr, nullptr), QUIRE_INVALID, "the name is NULL");
  SAYS(quire_publish("", nullptr), QUIRE_INVALID, "the name is empty");
  SAYS(quire_fetch_add(nullptr, 1, &value), QUIRE_BAD_ADDRESS, "is NULL");
  SAYS(quire_fetch_add(&value, 1, &value), QUIRE_BAD_ADDRESS, "no shared region");
  SAYS(quire_compare_exchange(&value, nullptr, 1, &done), QUIRE_INVALID, "the expected value is NULL");
  SAYS(quire_prefetch(&value, 8, 0), QUIRE_BAD_ADDRESS, "no shared region");
  SAYS(quire_mutex_lock(mutex), QUIRE_INVALID, "the handle of the mutex is zero");
  SAYS(quire_mutex_create(nullptr), QUIRE_INVALID, "the place for the handle is NULL");
  REQUIRE_OK(quire_condition_create(&condition));
  REQUIRE_EQUAL(quire_last_error()[0], 0);  // of a call that succeeded there is nothing to say
  SAYS(quire_mutex_lock(quire_mutex{condition.id}), QUIRE_INVALID, "another kind, condition");
  SAYS(quire_mutex_lock(quire_mutex{std::uint64_t{1} << 56 | std::uint64_t{9} << 40 | 1}), QUIRE_INVALID,
       "no handle of a mutex");
  REQUIRE_OK(quire_mutex_create(&mutex));
  SAYS(quire_condition_wait(condition, mutex, 1), QUIRE_NOT_OWNER, "does not hold mutex");
  REQUIRE_OK(quire_mutex_lock(mutex));
  SAYS(quire_mutex_lock(mutex), QUIRE_INVALID, "would wait for itself");
  REQUIRE_OK(quire_mutex_unlock(mutex));
  SAYS(quire_mutex_unlock(mutex), QUIRE_NOT_OWNER, "does not hold mutex");
  REQUIRE_OK(quire_mutex_destroy(mutex));
  SAYS(quire_mutex_lock(mutex), QUIRE_NOT_FOUND, "was destroyed, or never made");
  quire_barrier some{};
  SAYS(quire_barrier_create(0, &some), QUIRE_INVALID, "at least one participant");
  SAYS(quire_spawn(5, nothing, nullptr, nullptr), QUIRE_INVALID, "the place for the thread is NULL");
  quire_remote_thread thread{};
  SAYS(quire_spawn(5, nothing, nullptr, &thread), QUIRE_INVALID, "no node 5");
  SAYS(quire_join(quire_remote_thread{0}, nullptr), QUIRE_INVALID, "quire_spawn()");
  // All nodes call, and all are told.
  SAYS(quire_reduce_f64(reals, 9, QUIRE_SUM), QUIRE_INVALID, "9 values");
  SAYS(quire_broadcast(reals, 8, quire_node()), QUIRE_INVALID, "the calls of the nodes differ");
  SAYS(quire_region_set_consistency(quire_region{0}, QUIRE_RELEASE), QUIRE_INVALID, "quire_malloc()");
  SAYS(quire_checkpoint(nullptr), QUIRE_INVALID, "path of a directory");
#undef SAYS
  // Each thread has its own.
  REQUIRE_STATUS(quire_malloc(0, &at), QUIRE_INVALID);
  std::thread([] { REQUIRE_EQUAL(quire_last_error()[0], 0); }).join();
  REQUIRE(quire_last_error()[0] != 0);
  REQUIRE_OK(quire_end());
}

/// Numbers and addresses that no call could satisfy; afterwards everything still works.
void arguments() {
  start();
  int local = 0;
  void* at = nullptr;
  std::size_t size = 0;
  constexpr std::size_t huge = std::size_t{1} << 60;
  for (const std::size_t bytes : {std::size_t{0}, huge, SIZE_MAX, SIZE_MAX - 4095, std::size_t{1} << 63}) {
    REQUIRE_STATUS(quire_malloc(bytes, &at), QUIRE_INVALID);
    REQUIRE_STATUS(quire_calloc(bytes, 1, &at), QUIRE_INVALID);
    REQUIRE_STATUS(quire_calloc(1, bytes, &at), QUIRE_INVALID);
    REQUIRE_STATUS(quire_aligned_alloc(64, bytes, &at), QUIRE_INVALID);
    at = nullptr;
    REQUIRE_STATUS(quire_realloc(bytes, &at), QUIRE_INVALID);
    quire_region region{};
    REQUIRE_STATUS(quire_region_create(nullptr, bytes, &region), bytes == 0 ? QUIRE_INVALID : QUIRE_NO_ADDRESSES);
  }
  REQUIRE_STATUS(quire_calloc(huge, 32, &at), QUIRE_INVALID);  // overflows
  for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{4} << 20, huge, SIZE_MAX})
    REQUIRE_STATUS(quire_aligned_alloc(alignment, 64, &at), QUIRE_INVALID);
  REQUIRE_STATUS(quire_malloc(8, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_calloc(1, 8, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_aligned_alloc(8, 8, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_realloc(8, nullptr), QUIRE_INVALID);

  // Wrong addresses, double and interior frees: small and large blocks, of this node and of another. Of memory that
  // another node owns it may be found out later: then it is counted.
  std::uint64_t unsaid = 0;
  const auto free_wrongly = [&unsaid](void* wrong) {
    const auto status = quire_free(wrong);
    if (status == QUIRE_OK) {
      ++unsaid;
    } else {
      REQUIRE_STATUS(status, QUIRE_BAD_ADDRESS);
    }
  };
  for (const std::size_t bytes : {48u, 5000u, 300'000u}) {
    for (const bool elsewhere : {false, true}) {
      auto** const box = shared_object<void*>("box " + std::to_string(bytes) + std::to_string(elsewhere));
      if (quire_node() == (elsewhere ? quire_nodes() - 1 : 0)) REQUIRE_OK(quire_malloc(bytes, box));
      barrier();
      if (quire_node() == 0) {
        char* const block = static_cast<char*>(*box);
        for (const std::ptrdiff_t off : {1, 8, 16, 32}) {
          free_wrongly(block + off);
          REQUIRE_STATUS(quire_allocation_size(block + off, &size), QUIRE_BAD_ADDRESS);
          void* moved = block + off;
          REQUIRE_STATUS(quire_realloc(100, &moved), QUIRE_BAD_ADDRESS);
          REQUIRE(moved == block + off);
        }
        REQUIRE_OK(quire_free(block));
        free_wrongly(block);
        REQUIRE_STATUS(quire_allocation_size(block, &size), QUIRE_BAD_ADDRESS);
      }
      barrier();
    }
  }
  for (void* const wrong : {static_cast<void*>(&local), reinterpret_cast<void*>(8), reinterpret_cast<void*>(~0ul),
                            reinterpret_cast<void*>(0x200000000000 + (std::uint64_t{300} << 30))}) {
    auto* const word = reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uint64_t>(wrong) & ~7ul);
    free_wrongly(wrong);
    REQUIRE_STATUS(quire_allocation_size(wrong, &size), QUIRE_BAD_ADDRESS);
    if (reinterpret_cast<std::uint64_t>(wrong) >> 44 != 2) {  // the last one is shared, though not allocated
      std::uint64_t expected = 0;
      int done = 0;
      quire_region region{};
      REQUIRE_STATUS(quire_fetch_add(word, 1, nullptr), QUIRE_BAD_ADDRESS);
      REQUIRE_STATUS(quire_exchange(word, 1, nullptr), QUIRE_BAD_ADDRESS);
      REQUIRE_STATUS(quire_compare_exchange(word, &expected, 1, &done), QUIRE_BAD_ADDRESS);
      REQUIRE_STATUS(quire_prefetch(wrong, 1, 0), QUIRE_BAD_ADDRESS);
      REQUIRE_STATUS(quire_push(wrong, 1), QUIRE_BAD_ADDRESS);
      REQUIRE_STATUS(quire_advise(wrong, 1, QUIRE_WILL_WRITE), QUIRE_BAD_ADDRESS);
      REQUIRE_STATUS(quire_pin(wrong, 1, -1, nullptr), QUIRE_BAD_ADDRESS);
      REQUIRE_STATUS(quire_unpin(wrong, 1), QUIRE_BAD_ADDRESS);
      REQUIRE_STATUS(quire_region_of(wrong, &region), QUIRE_BAD_ADDRESS);
    }
  }
  for (const double limit = now_seconds() + 20; counters().bad_frees != unsaid; sleep_ms(1))
    REQUIRE(now_seconds() < limit);
  REQUIRE_STATUS(quire_fetch_add(nullptr, 1, nullptr), QUIRE_BAD_ADDRESS);
  auto* const good = shared_object<std::uint64_t>("good", 8);
  REQUIRE_STATUS(quire_fetch_add(reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(good) + 4), 1, nullptr),
                 QUIRE_INVALID);
  REQUIRE_STATUS(quire_prefetch(good, SIZE_MAX, 0), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_push(good, SIZE_MAX), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_pin(good, SIZE_MAX, -1, nullptr), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_unpin(good, SIZE_MAX), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_advise(good, 8, static_cast<quire_advice>(7)), QUIRE_INVALID);
  REQUIRE_OK(quire_pin(good, 0, -1, nullptr));
  REQUIRE_OK(quire_unpin(good, 0));
  REQUIRE_OK(quire_prefetch(good, 0, 0));
  REQUIRE_OK(quire_fetch_add(good, 1, nullptr));
  REQUIRE_OK(quire_exchange(good + 1, 1, nullptr));
  std::uint64_t expected = 1;
  int done = 0;
  REQUIRE_STATUS(quire_compare_exchange(good, nullptr, 1, &done), QUIRE_INVALID);
  REQUIRE_STATUS(quire_compare_exchange(good, &expected, 1, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_allocation_size(good, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_counters_read(nullptr), QUIRE_INVALID);
  quire_counters unsized{};
  REQUIRE_STATUS(quire_counters_read(&unsized), QUIRE_INVALID);

  // Regions.
  quire_region region{};
  REQUIRE_STATUS(quire_region_create(nullptr, 4096, nullptr), QUIRE_INVALID);
  for (const std::uint64_t bytes : {std::uint64_t{600} << 30, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    REQUIRE_STATUS(quire_region_create(nullptr, bytes, &region), QUIRE_NO_ADDRESSES);
  }
  REQUIRE_STATUS(quire_region_create(nullptr, 0, &region), QUIRE_INVALID);
  std::uint64_t rounded = 0;
  REQUIRE_OK(quire_region_create(nullptr, 1, &region));
  REQUIRE_OK(quire_region_range(region, nullptr, &rounded));
  REQUIRE_EQUAL(rounded, 4096);
  for (const std::size_t unit : {1u, 2048u, 5000u, 4u << 20}) {
    const auto about = region_options(unit, QUIRE_PLACE_BLOCK);
    REQUIRE_STATUS(quire_region_create(&about, 4096, &region), QUIRE_INVALID);
  }
  for (const int home : {-1, quire_nodes()}) {
    const auto about = region_options(4096, QUIRE_PLACE_NODE, home);
    REQUIRE_STATUS(quire_region_create(&about, 4096, &region), QUIRE_INVALID);
  }
  auto about = region_options(4096, static_cast<quire_placement>(77));
  REQUIRE_STATUS(quire_region_create(&about, 4096, &region), QUIRE_INVALID);
  about = region_options(4096, QUIRE_PLACE_BLOCK);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{8}, sizeof about - 1,
                                 sizeof about + 1, ~std::size_t{0}}) {
    about.size = size;
    REQUIRE_STATUS(quire_region_create(&about, 4096, &region), QUIRE_INVALID);
  }
  about.size = sizeof about;
  quire_counters numbers{};
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::size_t{8}, sizeof numbers - 1, sizeof numbers + 1, ~std::size_t{0}}) {
    numbers.size = size;
    REQUIRE_STATUS(quire_counters_read(&numbers), QUIRE_INVALID);
  }
  about.consistency = static_cast<quire_consistency>(5);
  REQUIRE_STATUS(quire_region_create(&about, 4096, &region), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_range(quire_region{4000}, &at, nullptr), QUIRE_NOT_FOUND);
  REQUIRE_STATUS(quire_region_range(quire_region{~0ull}, &at, nullptr), QUIRE_NOT_FOUND);

  // Handles: none, of another kind, of nothing, destroyed and used again.
  quire_mutex mutex{};
  quire_event event{};
  REQUIRE_OK(quire_mutex_create(&mutex));
  REQUIRE_OK(quire_event_create(&event));
  const auto refused = [](quire_status s) { return s == QUIRE_INVALID || s == QUIRE_NOT_FOUND; };
  for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, event.id, mutex.id + 1000}) {
    REQUIRE(refused(quire_mutex_lock(quire_mutex{id})) && refused(quire_mutex_try_lock(quire_mutex{id})));
    REQUIRE(refused(quire_mutex_destroy(quire_mutex{id})));
    REQUIRE(refused(quire_rwlock_read_lock(quire_rwlock{id}, -1)) &&
            refused(quire_semaphore_acquire(quire_semaphore{id}, -1)));
    REQUIRE(refused(quire_condition_notify_all(quire_condition{id})));
    if (id != event.id) REQUIRE(refused(quire_event_wait(quire_event{id}, -1)));
    if (id != 0) REQUIRE(refused(quire_barrier_wait(quire_barrier{id})));
  }
  REQUIRE_STATUS(quire_mutex_create(nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_rwlock_create(nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_condition_create(nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_event_create(nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_semaphore_create(1, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_barrier_create(2, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_mutex_unlock(mutex), QUIRE_NOT_OWNER);
  REQUIRE_OK(quire_mutex_destroy(mutex));
  REQUIRE_STATUS(quire_mutex_lock(mutex), QUIRE_NOT_FOUND);
  quire_mutex next{};
  REQUIRE_OK(quire_mutex_create(&next));
  REQUIRE_STATUS(quire_mutex_lock(mutex), QUIRE_NOT_FOUND);  // the old handle does not reach the new lock
  REQUIRE_OK(quire_mutex_lock(next));
  REQUIRE_OK(quire_mutex_unlock(next));
  REQUIRE(quire_status_text(static_cast<quire_status>(999)) != nullptr);
  REQUIRE_STATUS(quire_malloc(std::size_t{900} << 30, &at),
                 QUIRE_NO_MEMORY);  // less than the range, more than there is
  REQUIRE_OK(quire_end());
}

/// The child ends by the signal `wanted`, or exits with 0 when that is 0; at most ten seconds.
void ends(pid_t child, int wanted) {
  int status = 0;
  const double limit = now_seconds() + 10;
  pid_t ended;
  while ((ended = ::waitpid(child, &status, WNOHANG)) == 0 && now_seconds() < limit) sleep_ms(5);
  if (ended != child) {
    ::kill(child, SIGKILL);
    fail(__FILE__, __LINE__, "a forked child does not end");
  }
  if (wanted != 0 ? !WIFSIGNALED(status) || WTERMSIG(status) != wanted : !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail(__FILE__, __LINE__, "a forked child ended with status 0x%x", status);
}

/// Processes that the application starts, while the nodes share memory all the time.
void forks() {
  start();
  auto* words = shared_object<std::uint64_t>("words", 4096);
  std::atomic<bool> stop{false};
  std::thread sharer([&] {
    while (!stop) std::atomic_ref(words[static_cast<std::size_t>(quire_node())]).fetch_add(1);
  });
  words[2048 + quire_node()] = 7;
  for (int round = 0; round < 5; ++round) {
    const auto forked = [](const std::function<void()>& body) {
      const pid_t child = ::fork();
      if (child != 0) return child;
      body();
      ::_exit(0);
    };
    ends(forked([] {}), 0);
    ends(forked([] { all_calls_give(QUIRE_FORKED); }), 0);
    ends(forked([] { REQUIRE_STATUS(quire_start(nullptr), QUIRE_FORKED); }), 0);
    ends(forked([] { std::exit(0); }), 0);  // with its destructors
    ends(forked([] { ::execlp("true", "true", nullptr); }), 0);
    ends(forked([&] { std::printf("%lu", static_cast<unsigned long>(*static_cast<volatile std::uint64_t*>(words))); }),
         SIGSEGV);
    ends(forked([&] { words[2048 + quire_node()] = 1; }), SIGSEGV);
    ends(forked([] { *static_cast<volatile int*>(nullptr) = 1; }), SIGSEGV);
    REQUIRE(std::system("exit 0") == 0);
    char name[] = "true";
    char* const arguments[] = {name, nullptr};
    pid_t spawned;
    REQUIRE(::posix_spawnp(&spawned, "true", nullptr, nullptr, arguments, environ) == 0);
    ends(spawned, 0);
    std::FILE* pipe = ::popen("echo hello", "r");
    char text[16] = {};
    REQUIRE(std::fgets(text, sizeof text, pipe) != nullptr && std::strcmp(text, "hello\n") == 0 && ::pclose(pipe) == 0);
  }
  // A child that lives longer than the job does not hold it up.
  if (::fork() == 0) {
    sleep_ms(1000);
    ::_exit(0);
  }
  stop = true;
  sharer.join();
  barrier();
  for (int n = 0; n < quire_nodes(); ++n) REQUIRE_EQUAL(words[2048 + n], 7);
  REQUIRE_OK(quire_end());
}

/// Units that were asked for in advance and are still on their way hold up nobody.
void end_with_prefetch() {
  start();
  constexpr std::size_t bytes = std::size_t{8} << 20;
  auto* memory = shared_region<char>("memory", bytes, region_options(4096, QUIRE_PLACE_MODULO));
  for (std::size_t i = 0; i < bytes; i += 4096)
    if (i / 4096 % static_cast<std::size_t>(quire_nodes()) == static_cast<std::size_t>(quire_node())) memory[i] = 1;
  barrier();
  REQUIRE_OK(quire_prefetch(memory, bytes, quire_node() % 2));
  const double begin = now_seconds();
  REQUIRE_OK(quire_end());
  REQUIRE(now_seconds() - begin < 20);  // for ever, if they did
}

void taken_range() {
  auto* const base = reinterpret_cast<void*>(0x200000000000);
  auto* mine = static_cast<char*>(
      ::mmap(base, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  REQUIRE(mine == base);
  mine[0] = 5;
  REQUIRE_STATUS(quire_start(nullptr), QUIRE_NO_ADDRESSES);
  REQUIRE_EQUAL(mine[0], 5);  // still there
  all_calls_give(QUIRE_NOT_STARTED);
}

/// Regions stay until the end of the job, and there is a number of them that it cannot exceed.
void too_many_regions() {
  start();
  const auto about = region_options(4096, QUIRE_PLACE_BLOCK);
  quire_region region{};
  for (int i = 1; i <= 4095; ++i) REQUIRE_OK(quire_region_create(&about, 4096, &region));
  REQUIRE_STATUS(quire_region_create(&about, 4096, &region), QUIRE_LIMIT);
  void* at = nullptr;
  REQUIRE_OK(quire_region_range(region, &at, nullptr));
  *static_cast<volatile int*>(at) = 5;  // the last one is as good as the first
  REQUIRE_OK(quire_end());
}

void options_of_the_program() {
  const std::string_view field = std::getenv("WRONG_FIELD");
  const std::uint64_t value = std::strtoull(std::getenv("WRONG_VALUE"), nullptr, 0);
  quire_options wrong{};
  wrong.size = sizeof wrong;
  if (field == "base") wrong.base = value;
  if (field == "range_bytes") wrong.range_bytes = value;
  if (field == "detector") wrong.detector = static_cast<int>(value);
  REQUIRE_STATUS(quire_start(&wrong), QUIRE_BAD_OPTION);
}
void bad_environment() { REQUIRE_STATUS(quire_start(nullptr), QUIRE_BAD_OPTION); }

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> cases = {{"before_and_after", before_and_after},
                                                   {"arguments", arguments},
                                                   {"explanations", explanations},
                                                   {"forks", forks},
                                                   {"null_by_default", null_by_default},
                                                   {"null_with_core", null_with_core},
                                                   {"null_with_earlier_handler", null_with_earlier_handler},
                                                   {"null_with_later_handler", null_with_later_handler},
                                                   {"bus_error", bus_error},
                                                   {"beyond_all_regions", beyond_all_regions},
                                                   {"used_after_end", used_after_end},
                                                   {"guarded", guarded},
                                                   {"all_signals_blocked", all_signals_blocked},
                                                   {"handlers_that_share", handlers_that_share},
                                                   {"end_with_prefetch", end_with_prefetch},
                                                   {"taken_range", taken_range},
                                                   {"too_many_regions", too_many_regions},
                                                   {"options_of_the_program", options_of_the_program},
                                                   {"bad_environment", bad_environment}};
  const auto found = cases.find(argc > 1 ? argv[1] : "");
  if (found == cases.end()) return 2;
  found->second();
  return 0;
}
