/* SPDX-License-Identifier: BSD-3-Clause */
// Parts of lines come in the order in which threads write them: under a mutex, a lock for readers and writers, a spin
// lock, in turns by a condition, and from one to the next by semaphores.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { threads = 4, rounds = 12 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static sem_t own[threads];
static int by_mutex, by_rwlock, by_spin, turn;

static void* take(void* unused) {
  (void)unused;
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&mutex);
    printf("%d ", by_mutex++);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}
static void* write_lock(void* unused) {
  (void)unused;
  for (int i = 0; i < rounds; ++i) {
    pthread_rwlock_wrlock(&rwlock);
    printf("%d ", by_rwlock++);
    pthread_rwlock_unlock(&rwlock);
  }
  return NULL;
}
static void* take_spin(void* unused) {
  (void)unused;
  for (int i = 0; i < rounds; ++i) {
    pthread_spin_lock(&spin);
    printf("%d ", by_spin++);
    pthread_spin_unlock(&spin);
  }
  return NULL;
}
static void* take_turns(void* number) {
  const int self = (int)(long)number;
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&mutex);
    while (turn % threads != self) pthread_cond_wait(&turned, &mutex);
    printf("%d ", turn++);
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}
static void* post_next(void* number) {
  const int self = (int)(long)number;
  for (int i = 0; i < rounds; ++i) {
    while (sem_wait(&own[self]) != 0) continue;
    printf("%d ", i * threads + self);
    sem_post(&own[(self + 1) % threads]);
  }
  return NULL;
}

static void run(void* (*body)(void*)) {
  pthread_t made[threads];
  for (long t = 0; t < threads; ++t) pthread_create(&made[t], NULL, body, (void*)t);
  for (int t = 0; t < threads; ++t) pthread_join(made[t], NULL);
  printf("\n");
}

int main(void) {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  for (int t = 0; t < threads; ++t) sem_init(&own[t], 0, t == 0);
  run(take);
  run(write_lock);
  run(take_spin);
  run(take_turns);
  run(post_next);
  return 0;
}
