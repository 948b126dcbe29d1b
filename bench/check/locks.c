/* SPDX-License-Identifier: BSD-3-Clause */
/* A table with a lock for each part: what `quire run --check` costs a program that takes many locks. An argument: how
 * often each thread changes a part. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { parts = 64, words = 512, changed = 64 };
static long table[parts][words];
static omp_lock_t locks[parts];

int main(int arguments, char** argument) {
  const int rounds = arguments > 1 ? atoi(argument[1]) : 20000;
  for (int i = 0; i < parts; ++i) omp_init_lock(&locks[i]);
#pragma omp parallel
  {
    unsigned draw = 1u + (unsigned)omp_get_thread_num();
    for (int r = 0; r < rounds; ++r) {
      draw = draw * 1103515245u + 12345u;
      const unsigned part = (draw >> 16) % parts;
      omp_set_lock(&locks[part]);
      for (int i = 0; i < changed; ++i) table[part][i] += i + 1;
      omp_unset_lock(&locks[part]);
    }
  }
  long sum = 0;
  for (int i = 0; i < parts; ++i) sum += table[i][changed - 1];
  printf("%ld\n", sum);
  return 0;
}
