/* SPDX-License-Identifier: BSD-3-Clause */
// A program that needs no OpenMP runtime itself, but a library of its own that does.
#include <stdio.h>

int count_all(int* threads, int from);

static int threads;

int main(void) {
  const int sum = count_all(&threads, 7);
  printf("%d threads, %d\n", threads, sum);
  return sum == 0;
}
