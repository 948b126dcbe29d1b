// SPDX-License-Identifier: BSD-3-Clause
// random.cpp SEED: threads that lock, wait and meet as a seed tells; what comes out does not depend on who is first.
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct generator {
  std::uint64_t state;
  std::uint64_t next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * 0x2545f4914f6cdd1du >> 33;
  }
  int below(int end) { return static_cast<int>(next() % static_cast<std::uint64_t>(end)); }
};

constexpr int most_locks = 5, rounds = 12, steps = 25;
struct account {
  pthread_mutex_t lock;
  pthread_rwlock_t many;
  long money, reads;
};
account g_accounts[most_locks];
pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
pthread_barrier_t g_barrier;
sem_t g_slots;
std::atomic<long> g_atomic{0};
int g_threads = 0, g_turn = 0;
std::uint64_t g_seed = 1;
std::vector<long> g_log;

void transfer(generator& r) {
  int a = r.below(most_locks), b = r.below(most_locks);
  const long sum = r.below(100);
  if (a == b) b = (a + 1) % most_locks;
  account &first = g_accounts[a < b ? a : b], &second = g_accounts[a < b ? b : a];
  pthread_mutex_lock(&first.lock);
  pthread_mutex_lock(&second.lock);
  g_accounts[a].money -= sum;
  g_accounts[b].money += sum;
  pthread_mutex_unlock(&first.lock);
  pthread_mutex_unlock(&second.lock);
}

void step(generator& r) {
  account& one = g_accounts[r.below(most_locks)];
  switch (r.below(5)) {
    case 0:
      return transfer(r);
    case 1:
      pthread_rwlock_wrlock(&one.many);
      one.reads += r.below(9);
      pthread_rwlock_unlock(&one.many);
      return;
    case 2:
      pthread_rwlock_rdlock(&one.many);
      g_atomic += one.reads < 0;
      pthread_rwlock_unlock(&one.many);
      return;
    case 3:
      sem_wait(&g_slots);
      g_atomic += r.below(7);
      sem_post(&g_slots);
      return;
    default:
      while (pthread_mutex_trylock(&one.lock) != 0) sched_yield();
      one.money += 1000;
      pthread_mutex_unlock(&one.lock);
  }
}

/// Each in its turn, in an order that differs from round to round.
void in_turn(int me, int round) {
  pthread_mutex_lock(&g_mutex);
  while (g_turn != (me + round) % g_threads) pthread_cond_wait(&g_condition, &g_mutex);
  g_log.push_back(me * 100 + round);
  g_turn = (g_turn + 1) % g_threads;
  pthread_cond_broadcast(&g_condition);
  pthread_mutex_unlock(&g_mutex);
}

void* run(void* argument) {
  const int me = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
  generator r{g_seed * 1000003 + static_cast<std::uint64_t>(me) + 1};
  for (int round = 0; round < rounds; ++round) {
    for (int i = r.below(steps); i > 0; --i) step(r);
    if (round % 3 == 0) in_turn(me, round);
    pthread_barrier_wait(&g_barrier);
  }
  return reinterpret_cast<void*>(r.next());
}

}  // namespace

int main(int count, char** words) {
  g_seed = count > 1 ? std::strtoull(words[1], nullptr, 10) : 1;
  generator r{g_seed};
  g_threads = 3 + r.below(5);
  pthread_barrier_init(&g_barrier, nullptr, static_cast<unsigned>(g_threads));
  sem_init(&g_slots, 0, 2);
  for (account& a : g_accounts) {
    pthread_mutex_init(&a.lock, nullptr);
    pthread_rwlock_init(&a.many, nullptr);
  }
  std::vector<pthread_t> all(static_cast<std::size_t>(g_threads));
  for (int i = 0; i < g_threads; ++i)
    pthread_create(&all[static_cast<std::size_t>(i)], nullptr, run,
                   reinterpret_cast<void*>(static_cast<std::intptr_t>(i)));
  std::uint64_t results = 0;
  for (const pthread_t t : all) {
    void* result = nullptr;
    pthread_join(t, &result);
    results = results * 31 + reinterpret_cast<std::uint64_t>(result);
  }
  for (const account& a : g_accounts) std::printf("%ld %ld ", a.money, a.reads);
  std::uint64_t order = 0;
  for (const long one : g_log) order = order * 131 + static_cast<std::uint64_t>(one);
  std::printf("\n%d threads, atomic %ld, results %lu, order %lu of %zu\n", g_threads, g_atomic.load(), results, order,
              g_log.size());
  return 0;
}
