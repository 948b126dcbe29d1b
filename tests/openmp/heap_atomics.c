/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations in a large block of the heap. */
#include <stdio.h>
#include <stdlib.h>

enum { bins = 50000 };

int main(void) {
  int* const histogram = calloc(bins, sizeof *histogram);
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 100000; ++i) {
#pragma omp atomic
    ++histogram[i * 7919L % bins];
  }
  long sum = 0;
  for (int i = 0; i < bins; ++i) sum += histogram[i] * (long)(i % 11);
  printf("%ld\n", sum);
  free(histogram);
  return 0;
}
