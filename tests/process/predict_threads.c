/* SPDX-License-Identifier: BSD-3-Clause */
/* For predict_test: a plain program with two threads. Arguments: MILLISECONDS [lines|turns]. Each thread computes for
 * so much processor time, and adds one to a sum; the exit status is 0 if that is 2. "lines": in 10 rounds, which end at
 * a barrier, each writes every other line of 16 pages, again and again: several nodes write each page. "turns": it has
 * 4,000 words, and one thread after the other adds one to all of them, 50 times. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { line = 64, pages = 16, lines = pages * 4096 / line, rounds = 10, sweeps = 200, words = 4000, turns = 50 };

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t g_all;
static double g_seconds;
static int g_sum;
static const char* g_how = "";
static _Alignas(4096) unsigned char g_lines[lines][line];
static _Alignas(4096) uint64_t g_words[words];

static double processor_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void compute(double seconds) {
  const double until = processor_s() + seconds;
  while (processor_s() < until) continue;
}

static void write_lines(int self) {
  for (int round = 0; round < rounds; ++round) {
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for (int i = self; i < lines; i += 2) ++*(uint32_t*)(void*)g_lines[i];
      compute(0.0001);
    }
    pthread_barrier_wait(&g_all);
  }
}
static void take_turns(int self) {
  for (int turn = 0; turn < 2 * turns; ++turn) {
    if (turn % 2 == self)
      for (int i = 0; i < words; ++i) ++g_words[i];
    pthread_barrier_wait(&g_all);
  }
}

static void* work(void* self) {
  compute(g_seconds);
  if (strcmp(g_how, "lines") == 0) write_lines((int)(intptr_t)self);
  if (strcmp(g_how, "turns") == 0) take_turns((int)(intptr_t)self);
  pthread_mutex_lock(&g_lock);
  ++g_sum;
  pthread_mutex_unlock(&g_lock);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[2];
  g_seconds = argc > 1 ? atoi(argv[1]) / 1e3 : 0.1;
  if (argc > 2) g_how = argv[2];
  if (pthread_barrier_init(&g_all, NULL, 2) != 0) return 2;
  for (intptr_t i = 0; i < 2; ++i)
    if (pthread_create(&threads[i], NULL, work, (void*)i) != 0) return 2;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; strcmp(g_how, "lines") == 0 && i < lines; ++i)
    if (*(uint32_t*)(void*)g_lines[i] != rounds * sweeps) return 3;
  for (int i = 0; strcmp(g_how, "turns") == 0 && i < words; ++i)
    if (g_words[i] != 2 * turns) return 3;
  return g_sum != 2;
}
