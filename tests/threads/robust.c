/* SPDX-License-Identifier: BSD-3-Clause */
/* Robust mutexes whose owners end in each way, on any node: what the next threads are told. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
  char before[4096];
  pthread_mutex_t mutex;
  pthread_mutex_t other;
  char after[4096];
} g;
static pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
static int g_data, g_waits;

static void* take_and_return(void* how) {
  const int error = pthread_mutex_lock(&g.mutex);
  pthread_mutex_lock(&g.other);
  pthread_mutex_unlock(&g.other);
  ++g_data;
  printf("taken: %d\n", error);
  return how;
}
static void* take_and_exit(void* how) {
  pthread_mutex_lock(&g.mutex);
  ++g_data;
  pthread_exit(how);
}
static void* take_and_sleep(void* how) {
  pthread_mutex_lock(&g.mutex);
  ++g_data;
  for (;;) sleep(100);
  return how;
}

static void* recover(void* result) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 30;
  const int error = pthread_mutex_timedlock(&g.mutex, &until);
  const int consistent = pthread_mutex_consistent(&g.mutex);
  printf("%s, %d, data %d, unlocked %d\n", strerror(error), consistent, g_data, pthread_mutex_unlock(&g.mutex));
  return result;
}
static void* look(void* result) {
  const int error = pthread_mutex_trylock(&g.mutex);
  printf("then: %s\n", error == 0 ? "free" : strerror(error));
  if (error == 0) pthread_mutex_unlock(&g.mutex);
  printf("not mine: %s\n", strerror(pthread_mutex_unlock(&g.mutex)));
  return result;
}
static void* give_up(void* result) {
  printf("%s,", strerror(pthread_mutex_lock(&g.mutex)));
  printf(" unlocked %d\n", pthread_mutex_unlock(&g.mutex));
  return result;
}
static void* wait_for_it(void* result) {
  pthread_mutex_lock(&g.mutex);
  g_waits = 1;
  const int error = pthread_cond_wait(&g_condition, &g.mutex);
  printf("condition: %s\n", strerror(error));
  pthread_mutex_consistent(&g.mutex);
  pthread_mutex_unlock(&g.mutex);
  return result;
}
static void* wake_and_end(void* result) {
  pthread_mutex_lock(&g.mutex);
  while (!g_waits) {
    pthread_mutex_unlock(&g.mutex);
    usleep(1000);
    pthread_mutex_lock(&g.mutex);
  }
  pthread_cond_signal(&g_condition);
  return result;
}

static void run(void* (*body)(void*), int cancels) {
  pthread_t thread;
  const int before = g_data;
  pthread_create(&thread, NULL, body, NULL);
  if (cancels) {
    while (__atomic_load_n(&g_data, __ATOMIC_ACQUIRE) == before) usleep(1000);
    pthread_cancel(thread);
  }
  pthread_join(thread, NULL);
}

/* Of a kind that knows its owner: the next thread may have the number of the one that has ended. */
static void* lock_twice(void* result) {
  const int first = pthread_mutex_lock(&g.other);
  printf("%s, ", strerror(first));
  if (first == EOWNERDEAD) pthread_mutex_consistent(&g.other);
  printf("%s\n", strerror(pthread_mutex_lock(&g.other)));
  return result;
}
static void owned(int type) {
  pthread_mutexattr_t about;
  pthread_mutexattr_init(&about);
  pthread_mutexattr_setrobust(&about, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_settype(&about, type);
  pthread_mutex_init(&g.other, &about);
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, lock_twice, NULL);
    pthread_join(thread, NULL);
  }
}

int main(void) {
  pthread_mutexattr_t robust;
  pthread_mutexattr_init(&robust);
  printf("robust: %d", pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST));
  printf(" %d\n", pthread_mutex_init(&g.mutex, &robust));
  pthread_mutex_init(&g.other, &robust);
  void* (*const ends[])(void*) = {take_and_return, take_and_exit, take_and_sleep};
  for (int i = 0; i < 3; ++i) {
    run(ends[i], i == 2);
    run(recover, 0);
    run(look, 0);
  }
  pthread_t waits, wakes;
  pthread_create(&waits, NULL, wait_for_it, NULL);
  pthread_create(&wakes, NULL, wake_and_end, NULL);
  pthread_join(wakes, NULL);
  pthread_join(waits, NULL);
  run(take_and_exit, 0);
  run(give_up, 0);
  printf("for ever: %s\n", strerror(pthread_mutex_lock(&g.mutex)));
  printf("destroyed: %d\n", pthread_mutex_destroy(&g.mutex));
  owned(PTHREAD_MUTEX_ERRORCHECK);
  owned(PTHREAD_MUTEX_RECURSIVE);
  printf("again: %d", pthread_mutex_init(&g.mutex, &robust));
  printf(" %d\n", pthread_mutex_lock(&g.mutex));
  return pthread_mutex_unlock(&g.mutex);
}
