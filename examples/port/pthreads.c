/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a rod, by four threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 20000, steps = 200, workers = 4 };

static double* now;
static double* next;
static pthread_barrier_t all;

static void sweep(const double* from, double* to, int worker, int count) {
  const int first = 1 + (cells - 2) * worker / count, last = 1 + (cells - 2) * (worker + 1) / count;
  for (int i = first; i < last; ++i) to[i] = from[i] + 0.25 * (from[i - 1] - 2 * from[i] + from[i + 1]);
}

static void* work(void* argument) {
  const int worker = (int)(size_t)argument;
  for (int step = 0; step < steps; ++step) {
    if (step % 2 == 0)
      sweep(now, next, worker, workers);
    else
      sweep(next, now, worker, workers);
    pthread_barrier_wait(&all);
  }
  return NULL;
}

int main(void) {
  now = calloc(cells, sizeof(double));
  next = calloc(cells, sizeof(double));
  if (now == NULL || next == NULL) return 1;
  now[0] = next[0] = 100;
  pthread_barrier_init(&all, NULL, workers);
  pthread_t threads[workers];
  for (size_t t = 0; t < workers; ++t) pthread_create(&threads[t], NULL, work, (void*)t);
  for (int t = 0; t < workers; ++t) pthread_join(threads[t], NULL);
  double sum = 0;
  for (int i = 0; i < cells; ++i) sum += now[i];
  printf("%d steps, the sum is %.6f\n", steps, sum);
  return 0;
}
