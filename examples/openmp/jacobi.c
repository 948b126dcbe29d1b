/* SPDX-License-Identifier: BSD-3-Clause */
// A plate whose upper edge is hot: Jacobi's method, as anybody would write it with OpenMP. It knows nothing of Quire:
//
//   gcc -fopenmp -O2 jacobi.c -o jacobi -lm && OMP_NUM_THREADS=8 quire run -n 4 ./jacobi
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1024, steps = argc > 2 ? atoi(argv[2]) : 200;
  if (n < 3 || steps < 1) {
    fprintf(stderr, "usage: jacobi [SIZE] [STEPS]\n");
    return 2;
  }
  double* old = calloc((size_t)n * n, sizeof *old);
  double* new = calloc((size_t)n * n, sizeof *new);
  if (old == NULL || new == NULL) {
    fprintf(stderr, "no memory for a plate of %d x %d\n", n, n);
    return 1;
  }
  for (int j = 0; j < n; ++j) old[j] = new[j] = 1;
  double change = 0;
  const double start = omp_get_wtime();
#pragma omp parallel
  for (int step = 0; step < steps; ++step) {
#pragma omp single
    change = 0;
#pragma omp for reduction(max : change)
    for (int i = 1; i < n - 1; ++i) {
      for (int j = 1; j < n - 1; ++j) {
        const size_t at = (size_t)i * n + j;
        new[at] = 0.25 * (old[at - n] + old[at + n] + old[at - 1] + old[at + 1]);
        change = fmax(change, fabs(new[at] - old[at]));
      }
    }
#pragma omp single
    {
      double* const other = old;
      old = new;
      new = other;
    }
  }
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) sum += old[(size_t)i * n + j];
  }
  printf("%d steps on %d x %d: the last changed %.6f at most, the mean is %.6f\n", steps, n, n, change, sum / n / n);
  fprintf(stderr, "%d threads, %.2f s\n", omp_get_max_threads(), omp_get_wtime() - start);
  free(old);
  free(new);
  return 0;
}
