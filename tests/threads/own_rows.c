/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads that smooth rows of their own between barriers of pthreads: `quire run --check` soon leaves alone what
 * one node has for itself. */
#include <pthread.h>
#include <stdio.h>

enum { rows = 256, columns = 512, rounds = 60, threads = 2 };
static double grids[2][rows][columns];
static pthread_barrier_t together;

static void* smooth(void* of) {
  const int me = *(const int*)of, first = 1 + (rows - 2) * me / threads, last = 1 + (rows - 2) * (me + 1) / threads;
  for (int r = 0; r < rounds; ++r) {
    double(*const from)[columns] = grids[r % 2], (*const to)[columns] = grids[1 - r % 2];
    for (int i = first; i < last; ++i)
      for (int k = 1; k < columns - 1; ++k) to[i][k] = 0.5 * (from[i - 1][k] + from[i + 1][k]) + r;
    pthread_barrier_wait(&together);
  }
  return NULL;
}

int main(void) {
  pthread_t made[threads];
  int numbers[threads];
  pthread_barrier_init(&together, NULL, threads);
  for (int t = 0; t < threads; ++t) {
    numbers[t] = t;
    pthread_create(&made[t], NULL, smooth, &numbers[t]);
  }
  for (int t = 0; t < threads; ++t) pthread_join(made[t], NULL);
  printf("%.3f\n", grids[rounds % 2][rows / 2][2]);
  return 0;
}
