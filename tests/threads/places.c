/* SPDX-License-Identifier: BSD-3-Clause */
/* places.c COUNT: in which process each thread runs: 0 is the one that was started first, which has main(). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t g_all;

static void* tell(void* of) {
  *(int*)of = getpid();
  pthread_barrier_wait(&g_all);
  return NULL;
}

/* How many of the processes have a lower number. */
static int rank(int process, const int* all, int count) {
  int lower = process > getpid();
  for (int i = 0; i < count; ++i) {
    int first = all[i] < process && all[i] != getpid();
    for (int k = 0; k < i; ++k) first = first && all[k] != all[i];
    lower += first;
  }
  return lower;
}

int main(int count, char** words) {
  const int threads = count > 1 ? atoi(words[1]) : 4;
  pthread_t* all = calloc((size_t)threads, sizeof *all);
  int* nodes = calloc((size_t)threads, sizeof *nodes);
  pthread_barrier_init(&g_all, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, tell, &nodes[i]);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  for (int i = 0; i < threads; ++i) printf("%s%d", i == 0 ? "" : " ", rank(nodes[i], nodes, threads));
  puts("");
  return 0;
}
