/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags that threads wait for in loops with a flush (NPB LU): a wavefront, in which each thread follows the one before
 * it, and a ring. The flags lie side by side. */
#include <omp.h>
#include <stdio.h>

enum { threads = 4, rows = 16, planes = 40, laps = 50 };
static int ready[rows]; /* of each row, whether the next one may use its value */
static long value[rows];
static int turn;
static long sum;

static void wavefront(void) {
#pragma omp parallel num_threads(threads)
  for (int plane = 1; plane <= planes; ++plane) {
#pragma omp for nowait schedule(static)
    for (int row = 0; row < rows; ++row) {
      if (row != 0) {
        while (ready[row - 1] == 0) {
#pragma omp flush
        }
      }
      if (row != rows - 1) {
        while (ready[row] == 1) {
#pragma omp flush
        }
      }
      value[row] = (value[row] * 3 + (row != 0 ? value[row - 1] : plane)) % 1000003;
#pragma omp flush
      if (row != rows - 1) ready[row] = 1;
      if (row != 0) ready[row - 1] = 0;
#pragma omp flush
    }
  }
}

static void ring(void) {
#pragma omp parallel num_threads(threads)
  for (int lap = 0; lap < laps; ++lap) {
    const int mine = lap * threads + omp_get_thread_num();
    for (;;) {
      int now;
#pragma omp atomic read
      now = turn;
      if (now == mine) break;
#pragma omp flush
    }
    sum = (sum * 7 + mine) % 1000003;
#pragma omp flush
#pragma omp atomic write
    turn = mine + 1;
  }
}

int main(void) {
  wavefront();
  ring();
  long all = 0;
  for (int row = 0; row < rows; ++row) all = (all * 5 + value[row]) % 1000003;
  printf("%ld %ld %d\n", all, sum, turn);
  return 0;
}
