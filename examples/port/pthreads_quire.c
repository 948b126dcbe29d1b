/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a rod, by all nodes of a job. */
#include <quire/quire.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 20000, steps = 200 };

static double* now;
static double* next;
static const quire_barrier all;

static void must(quire_status status) {
  if (status == QUIRE_OK) return;
  fprintf(stderr, "%s\n", quire_status_text(status));
  exit(1);
}

static void sweep(const double* from, double* to, int worker, int count) {
  const int first = 1 + (cells - 2) * worker / count, last = 1 + (cells - 2) * (worker + 1) / count;
  for (int i = first; i < last; ++i) to[i] = from[i] + 0.25 * (from[i - 1] - 2 * from[i] + from[i + 1]);
}

static void work(int worker, int workers) {
  for (int step = 0; step < steps; ++step) {
    if (step % 2 == 0)
      sweep(now, next, worker, workers);
    else
      sweep(next, now, worker, workers);
    must(quire_barrier_wait(all));
  }
}

static double* shared(void) {
  void* address = NULL;
  if (quire_node() == 0) must(quire_calloc(cells, sizeof(double), &address));
  must(quire_broadcast(&address, sizeof address, 0));
  return address;
}

int main(void) {
  must(quire_start(NULL));
  now = shared();
  next = shared();
  if (quire_node() == 0) now[0] = next[0] = 100;
  must(quire_barrier_wait(all));
  work(quire_node(), quire_nodes());
  double sum = 0;
  for (int i = 0; i < cells && quire_node() == 0; ++i) sum += now[i];
  if (quire_node() == 0) printf("%d steps, the sum is %.6f\n", steps, sum);
  must(quire_end());
  return 0;
}
