/* SPDX-License-Identifier: BSD-3-Clause */
// A static array that is larger than a program should wait for: only what is used of it costs anything, at the start
// and at the end. Needs -mcmodel=large.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef BYTES
#define BYTES (6ul << 30)
#endif
static char all[BYTES];

int main(void) {
  int wrong = 0;
#pragma omp parallel
  all[BYTES - 1 - 4096ul * omp_get_thread_num()] = (char)(1 + omp_get_thread_num());
#pragma omp parallel reduction(+ : wrong)
  for (int i = 0; i < omp_get_num_threads(); ++i) wrong += all[BYTES - 1 - 4096ul * i] != 1 + i;
  volatile size_t too_many = 1ul << 50;
  printf("%d threads, %d wrong, %d elsewhere, %s\n", omp_get_max_threads(), wrong, all[BYTES / 2],
         malloc(too_many) == NULL ? "no memory of that size" : "too much memory");
  return 0;
}
