/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a rod, by the threads of OpenMP of each node. */
#include <quire/quire.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 20000, steps = 200 };

static void must(quire_status status) {
  if (status == QUIRE_OK) return;
  fprintf(stderr, "%s\n", quire_status_text(status));
  exit(1);
}

static double* shared(void) {
  void* address = NULL;
  if (quire_node() == 0) must(quire_calloc(cells, sizeof(double), &address));
  must(quire_broadcast(&address, sizeof address, 0));
  return address;
}

int main(void) {
  must(quire_start(NULL));
  const quire_barrier all = {0};
  double* now = shared();
  double* next = shared();
  if (quire_node() == 0) now[0] = next[0] = 100;
  must(quire_barrier_wait(all));
  const int node = quire_node(), nodes = quire_nodes();
  const int first = 1 + (cells - 2) * node / nodes, last = 1 + (cells - 2) * (node + 1) / nodes;
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel for
    for (int i = first; i < last; ++i) next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
    must(quire_barrier_wait(all));
    double* const other = now;
    now = next;
    next = other;
  }
  double sum = 0;
  for (int i = 0; i < cells && node == 0; ++i) sum += now[i];
  if (node == 0) printf("%d steps, the sum is %.6f\n", steps, sum);
  must(quire_end());
  return 0;
}
