/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutexes in objects of more than 64 KiB, static and of the heap, whose memory has release consistency until the first
 * one is locked; and atomic additions beside them where code is watched. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { count = 4000 };
static pthread_mutex_t all[count];

static void use(const char* where, pthread_mutex_t* of, long* words) {
  for (int i = 0; i < count; ++i) pthread_mutex_init(&of[i], NULL);
  long sum = 0;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < count; ++i) words[3 * i] = i;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < count; ++i) {
    pthread_mutex_lock(&of[2017]);
    sum += words[3 * i];
    pthread_mutex_unlock(&of[2017]);
#pragma omp atomic
    words[1] += i;
  }
  printf("%s: %ld %ld\n", where, sum, words[1]);
}

int main(void) {
  static long words[3 * count];
  use("static", all, words);
  pthread_mutex_t* const of_heap = malloc(count * sizeof *of_heap);
  long* const heap_words = calloc(3 * count, sizeof *heap_words);
  use("heap", of_heap, heap_words);
  free(of_heap);
  free(heap_words);
  return 0;
}
