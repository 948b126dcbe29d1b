/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutexes in an object of more than 64 KiB: with mixed memory they would exclude nobody, were it not made sequential; a block of the heap (ON_HEAP) is not. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef ON_HEAP
static pthread_mutex_t* all;
#else
static pthread_mutex_t all[4000];
#endif

int main(void) {
#ifdef ON_HEAP
  all = malloc(4000 * sizeof *all);
#endif
  for (int i = 0; i < 4000; ++i) pthread_mutex_init(&all[i], NULL);
  long sum = 0;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 4000; ++i) {
    pthread_mutex_lock(&all[2017]);
    sum += i;
    pthread_mutex_unlock(&all[2017]);
  }
  printf("%ld\n", sum);
  return 0;
}
