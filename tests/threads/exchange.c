/* SPDX-License-Identifier: BSD-3-Clause */
/* Each thread reads what another has written: each node speaks with each. Nodes meet for the first time within faults.
 * The program has libc's variables of streams among its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 6, rounds = 24, places = 5, bytes = 65536 };
static pthread_barrier_t g_all;
static char* g_memory;

static char* part(long of, int round) { return g_memory + (of + round % places * threads) * bytes; }

static void* work(void* number) {
  const long me = (long)number, other = (me + threads - 1) % threads;
  fprintf(stderr, "thread %ld\n", me);
  for (int round = 0; round < rounds; ++round) {
    memset(part(me, round), (int)(1 + me), bytes);
    pthread_barrier_wait(&g_all);
    const char* const seen = part(other, round);
    for (int i = 0; i < bytes; ++i) {
      if (seen[i] != 1 + other) abort();
    }
    pthread_barrier_wait(&g_all);
  }
  return NULL;
}

int main(void) {
  pthread_t all[threads];
  g_memory = malloc((size_t)bytes * threads * places);
  pthread_barrier_init(&g_all, NULL, threads);
  for (long i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  fputs("all seen\n", stdout);
  return 0;
}
