/* SPDX-License-Identifier: BSD-3-Clause */
/* Jacobi's iteration by OpenMP, with the sum of all changes: what `quire run --check` costs a program of loops. An
 * argument: how often. */
#include <stdio.h>
#include <stdlib.h>

enum { size = 1024 };
static double grids[2][size][size], source[size][size];

int main(int arguments, char** argument) {
  const int rounds = arguments > 1 ? atoi(argument[1]) : 200;
  double change = 0;
#pragma omp parallel for
  for (int i = 0; i < size; ++i)
    for (int k = 0; k < size; ++k) source[i][k] = (i * 7 + k * 3) % 11 - 5.0;
  for (int r = 0; r < rounds; ++r) {
    double(*const from)[size] = grids[r % 2], (*const to)[size] = grids[1 - r % 2];
    change = 0;
#pragma omp parallel for reduction(+ : change)
    for (int i = 1; i < size - 1; ++i)
      for (int k = 1; k < size - 1; ++k) {
        const double next = 0.25 * (from[i - 1][k] + from[i + 1][k] + from[i][k - 1] + from[i][k + 1] + source[i][k]);
        change += (next - from[i][k]) * (next - from[i][k]);
        to[i][k] = next;
      }
  }
  printf("%.6f\n", change);
  return 0;
}
