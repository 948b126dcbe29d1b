/* SPDX-License-Identifier: BSD-3-Clause */
// A library of the program's own, in C: static data, memory that its constructor has allocated, and a region of its
// own.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int library_calls;
static long table[5000];
static long calls_in_order = 7;
static char* name;

__attribute__((constructor)) static void begin(void) {
  name = malloc(64);
  strcpy(name, "made by a constructor");
}
__attribute__((destructor)) static void end(void) {
  printf("the C library ends: %s, %d calls\n", name, library_calls);
  free(name);
  fflush(stdout);
}

void library_count(void) {
#pragma omp atomic
  library_calls++;
#pragma omp critical(library)
  calls_in_order++;
}
long library_in_order(void) { return calls_in_order; }

/// Each thread sees what others have written, and what the constructor has left.
long library_sum(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
#pragma omp for schedule(dynamic, 50)
    for (int i = 0; i < 5000; ++i) table[i] += i;
#pragma omp for schedule(static, 7)
    for (int i = 0; i < 5000; ++i) sum += table[4999 - i] + (long)strlen(name);
  }
  return sum;
}
