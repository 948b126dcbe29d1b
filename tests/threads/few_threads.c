/* SPDX-License-Identifier: BSD-3-Clause */
/* Six threads, or the status 3 where one of them cannot be had. With an argument they compute until somebody ends
   them. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { most = 6 };
static pthread_barrier_t all;
static int for_ever;

static void* body(void* number) {
  for (volatile unsigned long turns = 0; for_ever; ++turns) continue;
  pthread_barrier_wait(&all);
  return number;
}

int main(int count, char** words) {
  (void)words;
  pthread_t threads[most];
  for_ever = count > 1;
  pthread_barrier_init(&all, NULL, most);
  for (long i = 0; i < most; ++i) {
    const int error = pthread_create(&threads[i], NULL, body, (void*)i);
    if (error == 0) continue;
    printf("no thread: %s\n", strerror(error));
    fflush(stdout);
    _Exit(3);
  }
  long sum = 0;
  for (int i = 0; i < most; ++i) {
    void* number;
    pthread_join(threads[i], &number);
    sum += (long)number;
  }
  printf("the sum is %ld\n", sum);
  return 0;
}
