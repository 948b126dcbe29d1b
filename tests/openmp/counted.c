/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of the heap in which all threads count, beside blocks that the program asks for elsewhere, or of other sizes:
 * each thread writes its part of them, and reads what the others wrote. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { counters = 30000, draws = 60000, blocks = 6, words = 10000, rounds = 4 };

static unsigned next(unsigned x) { return x * 1664525u + 1013904223u; }

int main(void) {
  int* const table = calloc(counters, sizeof *table);
  long* all[blocks];
  for (int b = 0; b < blocks; ++b) all[b] = calloc((size_t)words << b, sizeof **all);
  long sum = 0, counted = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel
    for (int b = 0; b < blocks; ++b) {
#pragma omp for
      for (int i = 0; i < words << b; ++i) all[b][i] += i % 10 + round;
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < words << b; ++i) sum += all[b][(words << b) - 1 - i];
    }
#pragma omp parallel for schedule(static, 100)
    for (int i = 0; i < draws; ++i) {
#pragma omp atomic
      ++table[next((unsigned)i) % counters];
    }
  }
  for (int i = 0; i < counters; ++i) counted += table[i] * (i % 5L);
  printf("%ld %ld\n", sum, counted);
  for (int b = 0; b < blocks; ++b) free(all[b]);
  free(table);
  return 0;
}
