/* SPDX-License-Identifier: BSD-3-Clause */
// The library of library_caller.c: all of the program's OpenMP is here.
#include <omp.h>

static int count, sum;

int count_all(int* threads, int from) {
#pragma omp parallel
  {
#pragma omp atomic
    count++;
#pragma omp atomic
    sum += omp_get_thread_num();
  }
#pragma omp parallel for reduction(+ : from)
  for (int i = 0; i < 1000; ++i) from += i;
  *threads = count;
  return sum + from;
}
