/* SPDX-License-Identifier: BSD-3-Clause */
// Threads of two nodes write neighbouring words of a static array: the report has to name the array, and the line.
#include <omp.h>
#include <stdio.h>

static volatile long tallies[512]
    __attribute__((aligned(4096))); /* a page: what the linker puts beside it is used by all */

int main(void) {
  long sum = 0;
  for (int step = 0; step < 200; ++step) {
#pragma omp parallel num_threads(2)
    tallies[omp_get_thread_num()] += 1;  // planted
  }
  for (int i = 0; i < 512; ++i) sum += tallies[i];
  printf("%ld\n", sum);
  return sum == 400 ? 0 : 1;
}
