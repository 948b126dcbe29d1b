/* SPDX-License-Identifier: BSD-3-Clause */
// Threads with a data race: both write all of an array, again and again, with a lock each. `quire run --check` tells
// the marked line.
#include <pthread.h>
#include <stdio.h>

enum { count = 1 << 16, rounds = 40 };
static long table[count];
static pthread_barrier_t together;

static void* write_all(void* of) {
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  for (int r = 0; r < rounds; ++r) {
    pthread_mutex_lock(&own);
    for (int i = 0; i < count; ++i) table[i] = i + r * (of != NULL ? 700 : 3000);  // RACE
    pthread_mutex_unlock(&own);
    pthread_barrier_wait(&together);
  }
  return NULL;
}

int main(void) {
  pthread_t other[2];
  pthread_barrier_init(&together, NULL, 2);
  pthread_create(&other[0], NULL, write_all, NULL);
  pthread_create(&other[1], NULL, write_all, table);
  for (int i = 0; i < 2; ++i) pthread_join(other[i], NULL);
  printf("%d\n", table[77] != 0);
  return 0;
}
