// SPDX-License-Identifier: BSD-3-Clause
// Threads that the program makes itself, beside those of its teams; and pthreads' and C++'s means of synchronisation,
// used by threads of all nodes.
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4, rounds = 200;
std::mutex g_mutex;
std::recursive_mutex g_recursive;
std::shared_mutex g_shared;
std::condition_variable g_condition;
std::once_flag g_once;
pthread_mutex_t g_plain = PTHREAD_MUTEX_INITIALIZER, g_checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
long g_count = 0, g_recursive_count = 0, g_plain_count = 0, g_pairs[2] = {0, 0};
int g_turn = 0, g_made = 0, g_caught = 0;

void expect(bool ok, const char* what) {
  if (!ok) std::printf("%s\n", what);
}

void exclusion() {
  long torn = 0;
#pragma omp parallel num_threads(threads) reduction(+ : torn)
  for (int i = 0; i < rounds; ++i) {
    {
      const std::lock_guard both(g_mutex);
      ++g_count;
    }
    {
      const std::lock_guard outer(g_recursive);
      const std::lock_guard inner(g_recursive);
      ++g_recursive_count;
    }
    pthread_mutex_lock(&g_plain);
    ++g_plain_count;
    pthread_mutex_unlock(&g_plain);
    if (i % 10 == 0) {
      const std::unique_lock write(g_shared);
      ++g_pairs[0], ++g_pairs[1];
    } else {
      const std::shared_lock read(g_shared);
      torn += g_pairs[0] != g_pairs[1];
    }
  }
  std::printf("%ld %ld %ld %ld %ld\n", g_count, g_recursive_count, g_plain_count, g_pairs[0], torn);
  int refused = 0;
  pthread_mutex_lock(&g_checked);
  refused += pthread_mutex_lock(&g_checked) == EDEADLK;
#pragma omp parallel num_threads(threads) reduction(+ : refused)
  {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    if (omp_get_thread_num() == threads - 1) {
      refused += pthread_mutex_trylock(&g_checked) == EBUSY;
      refused += pthread_mutex_timedlock(&g_checked, &until) == ETIMEDOUT;
      refused += pthread_mutex_unlock(&g_checked) == EPERM;
    }
  }
  refused += pthread_mutex_unlock(&g_checked) == 0;
  std::printf("refused: %d\n", refused);
}

void waiting() {
  pthread_barrier_t barrier;
  sem_t semaphore;
  pthread_barrier_init(&barrier, nullptr, threads);
  sem_init(&semaphore, 1, 1);
  int serial = 0, within = 0, most = 0;
#pragma omp parallel num_threads(threads) reduction(+ : serial)
  {
    const int me = omp_get_thread_num();
    for (int round = 0; round < 10; ++round) {
      std::unique_lock lock(g_mutex);
      g_condition.wait(lock, [&] { return g_turn % threads == me; });
      ++g_turn;
      g_condition.notify_all();
    }
    for (int round = 0; round < 10; ++round) serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    for (int round = 0; round < 20; ++round) {
      sem_wait(&semaphore);
      if (++within > most) most = within;
      --within;
      sem_post(&semaphore);
    }
    try {
      std::call_once(g_once, [] {
        if (++g_made == 1) throw std::runtime_error("the first try");
      });
    } catch (const std::runtime_error&) {
#pragma omp atomic
      g_caught += 1;
    }
    std::call_once(g_once, [] { ++g_made; });
  }
  std::unique_lock lock(g_mutex);
  const bool late = g_condition.wait_for(lock, std::chrono::milliseconds(5)) == std::cv_status::timeout;
  pthread_barrier_destroy(&barrier);
  sem_destroy(&semaphore);
  std::printf("%d turns, %d rounds, %d at a time, made %d, caught %d, late %d\n", g_turn, serial, most, g_made,
              g_caught, late);
}

/// A thread of the program's own waits for what threads of all nodes do, and they use what is on its stack.
void own_threads() {
  long* on_stack = nullptr;
  bool done = false;
  long seen = 0;
  std::thread helper([&] {
    long local[100] = {};
    std::unique_lock lock(g_mutex);
    on_stack = local;
    g_condition.notify_all();
    g_condition.wait(lock, [&] { return done; });
    for (const long one : local) seen += one;
#pragma omp parallel num_threads(3)
    seen += omp_get_num_threads() > 0 ? 1000 : 0;
    if (seen > 4000) seen = 4000;  // the stock runtime has a team
  });
  {
    std::unique_lock lock(g_mutex);
    g_condition.wait(lock, [&] { return on_stack != nullptr; });
  }
#pragma omp parallel for num_threads(threads)
  for (int i = 0; i < 100; ++i) on_stack[i] = i;
  {
    const std::lock_guard lock(g_mutex);
    done = true;
  }
  g_condition.notify_all();
  helper.join();
  std::printf("helper has seen enough: %d\n", seen >= 4000);
  std::vector<std::thread> many;
  long sum = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i)
      many.emplace_back([&sum, i] {
        char room[1 << 16];
        memset(room, i, sizeof room);
        const std::lock_guard lock(g_mutex);
        sum += room[i];
      });
    for (std::thread& t : many) t.join();
    many.clear();
  }
  std::printf("sum %ld\n", sum);
}

void* leave(void* value) {
  struct last {
    ~last() { ++g_made; }
  } at_end;
  pthread_exit(value);
}

}  // namespace

int main() {
  exclusion();
  waiting();
  own_threads();
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, leave, &g_count);
  pthread_join(thread, &result);
  std::printf("left: %d %d\n", result == &g_count, g_made);
  static auto& shared = *new std::vector<long>(100000);
  std::thread([] {  // still runs when the program ends
    for (std::size_t i = 0;; i = (i + 1) % shared.size()) ++shared[i];
  })
      .detach();
  usleep(5000);
  std::fflush(nullptr);
  return 6;
}
