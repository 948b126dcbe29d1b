/* SPDX-License-Identifier: BSD-3-Clause */
// Threads without data races: `quire run --check` tells nothing.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { count = 1 << 15 };
static long table[count];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t empty, full;
static int turn;
static void* take_turns(void* me) {
  for (int r = 0; r < 50; ++r) {
    pthread_mutex_lock(&mutex);
    while (turn % 2 != (me != NULL ? 1 : 0)) pthread_cond_wait(&condition, &mutex);
    for (int i = 0; i < 100; ++i) table[i] += r + 1;
    ++turn;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}
static void* produce(void* none) {
  for (int r = 0; r < 50; ++r) {
    sem_wait(&empty);
    for (int i = 0; i < 500; ++i) table[i] += r + i + 1;
    sem_post(&full);
  }
  return none;
}
static void* consume(void* none) {
  for (int r = 0; r < 50; ++r) {
    sem_wait(&full);
    for (int i = 0; i < 500; ++i) table[i] = -table[i];
    sem_post(&empty);
  }
  return none;
}
static void pair(void* (*one)(void*), void* (*two)(void*)) {
  pthread_t both[2];
  pthread_create(&both[0], NULL, one, NULL);
  pthread_create(&both[1], NULL, two, &turn);
  for (int i = 0; i < 2; ++i) pthread_join(both[i], NULL);
  for (int i = 0; i < 500; ++i) table[i] += 1;
}
static void conditions(void) { pair(take_turns, take_turns); }
static void semaphores(void) {
  sem_init(&empty, 0, 1);
  sem_init(&full, 0, 0);
  pair(produce, consume);
}

int main(void) {
  conditions();
  semaphores();
  printf("%ld\n", table[7]);
  return 0;
}
