/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a rod, by the threads of OpenMP. */
#include <stdio.h>
#include <stdlib.h>

enum { cells = 20000, steps = 200 };

int main(void) {
  double* now = calloc(cells, sizeof(double));
  double* next = calloc(cells, sizeof(double));
  if (now == NULL || next == NULL) return 1;
  now[0] = next[0] = 100;
  const int first = 1, last = cells - 1;
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel for
    for (int i = first; i < last; ++i) next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
    double* const other = now;
    now = next;
    next = other;
  }
  double sum = 0;
  for (int i = 0; i < cells; ++i) sum += now[i];
  printf("%d steps, the sum is %.6f\n", steps, sum);
  return 0;
}
