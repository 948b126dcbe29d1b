/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that smooth a grid, row by row, between barriers: what `quire run --check` costs a program of pthreads. An
 * argument: how often. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 1024, columns = 1024, threads = 2 };
static double grids[2][rows][columns];
static pthread_barrier_t together;
static int rounds = 200;

static void* smooth(void* of) {
  const int me = *(const int*)of, first = 1 + (rows - 2) * me / threads, last = 1 + (rows - 2) * (me + 1) / threads;
  for (int r = 0; r < rounds; ++r) {
    double(*const from)[columns] = grids[r % 2], (*const to)[columns] = grids[1 - r % 2];
    for (int i = first; i < last; ++i)
      for (int k = 1; k < columns - 1; ++k)
        to[i][k] = 0.25 * (from[i - 1][k] + from[i + 1][k] + from[i][k - 1] + from[i][k + 1]);
    pthread_barrier_wait(&together);
  }
  return NULL;
}

int main(int arguments, char** argument) {
  pthread_t made[threads];
  int numbers[threads];
  if (arguments > 1) rounds = atoi(argument[1]);
  for (int i = 0; i < rows; ++i) grids[0][i][0] = grids[1][i][0] = 1.0 + i;
  pthread_barrier_init(&together, NULL, threads);
  for (int t = 0; t < threads; ++t) {
    numbers[t] = t;
    pthread_create(&made[t], NULL, smooth, &numbers[t]);
  }
  for (int t = 0; t < threads; ++t) pthread_join(made[t], NULL);
  printf("%.6f\n", grids[rounds % 2][rows / 2][2]);
  return 0;
}
