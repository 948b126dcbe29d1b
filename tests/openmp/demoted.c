/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations, spin locks and mutexes in large static objects, which are sequential from the first of them on;
 * beside them one that stays as it is. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

enum { bins = 30000, draws = 60000, locks = 40000, mutexes = 2000, rounds = 300 };
static int histogram[bins];
static double weights[bins];
static double plain[bins];
static unsigned char spin_locks[2 * locks];
static long guarded[16];
static pthread_mutex_t table[mutexes];
static long counted[16];

static unsigned next(unsigned x) { return x * 1664525u + 1013904223u; }

static void fill_histogram(void) {
#pragma omp parallel for schedule(static, 100)
  for (int i = 0; i < draws; ++i) {
    const int bin = (int)(next((unsigned)i) % bins);
#pragma omp atomic
    ++histogram[bin];
#pragma omp atomic
    weights[bin] += 0.5;
    plain[i % bins] = i % bins;
  }
}

static void take_turns(void) {
#pragma omp parallel num_threads(4)
  for (int round = 0; round < rounds; ++round) {
    const int which = round % 16;
    while (__atomic_exchange_n(&spin_locks[which * 4096], 1, __ATOMIC_ACQUIRE) != 0) {
    }
    ++guarded[which];
    __atomic_store_n(&spin_locks[which * 4096], 0, __ATOMIC_RELEASE);
  }
}

static void lock_mutexes(void) {
  for (int i = 0; i < mutexes; ++i) pthread_mutex_init(&table[i], NULL);
#pragma omp parallel num_threads(4)
  for (int round = 0; round < rounds / 3; ++round) {
    const int which = round % 16;
    pthread_mutex_lock(&table[which * 100]);
    ++counted[which];
    pthread_mutex_unlock(&table[which * 100]);
  }
}

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < bins; ++i) histogram[i] = 0, weights[i] = i;
  fill_histogram();
  take_turns();
  lock_mutexes();
  long sum = 0, all = 0, turns = 0, total = 0;
  double weight = 0, rest = 0;
  for (int i = 0; i < bins; ++i) {
    sum += (long)histogram[i] * i, all += histogram[i];
    weight += weights[i] * (i % 3), rest += plain[i];
  }
  for (int i = 0; i < 16; ++i) turns += guarded[i] * (i + 1), total += counted[i] * (i + 1);
  printf("%ld %ld %.1f %.1f %ld %ld\n", sum, all, weight, rest, turns, total);
  return 0;
}
