/* SPDX-License-Identifier: BSD-3-Clause */
// Threads of two nodes write one page of the stack of the thread that has begun the region.
#include <omp.h>
#include <stdio.h>
int main(void) {
  volatile long x[4] = {0};
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 20000; ++i) {
    x[omp_get_thread_num()]++;
    if (i % 100 == 0) {
#pragma omp barrier
    }
  }
  printf("%ld\n", x[0]);
  return 0;
}
