/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that the last thread of a region makes, on whatever node that is, and main() handles: each in another way. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { joined, tried, timed, cancelled, let_go, all };
static pthread_t threads[all];
static int values[all], gate, done;

static void* work(void* at) {
  while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE)) usleep(1000);
  *(int*)at += 10;
  __atomic_fetch_add(&done, 1, __ATOMIC_ACQ_REL);
  return at;
}
static void* sleep_long(void* at) {
  for (;;) sleep(100);
  return at;
}

static struct timespec in(long ms) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += ms * 1000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) {
    for (int i = 0; i < all; ++i) {
      values[i] = i;
      pthread_create(&threads[i], NULL, i == cancelled ? sleep_long : work, &values[i]);
    }
  }
  void* result = NULL;
  char name[16] = "";
  printf("name: %d", pthread_setname_np(threads[joined], "far"));
  printf(" %d %s\n", pthread_getname_np(threads[joined], name, sizeof name), name);
  struct timespec soon = in(20);
  printf("too early: %s", strerror(pthread_tryjoin_np(threads[tried], &result)));
  printf(", %s\n", strerror(pthread_timedjoin_np(threads[timed], &result, &soon)));
  __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
  int error = pthread_join(threads[joined], &result);
  printf("joined: %d %d %d\n", error, result == &values[joined], values[joined]);
  soon = in(10000);
  error = pthread_clockjoin_np(threads[timed], &result, CLOCK_REALTIME, &soon);
  printf("timed: %d %d %d\n", error, result == &values[timed], values[timed]);
  while ((error = pthread_tryjoin_np(threads[tried], &result)) == EBUSY) usleep(1000);
  printf("tried: %d %d %d\n", error, result == &values[tried], values[tried]);
  printf("cancelled: %d", pthread_cancel(threads[cancelled]));
  error = pthread_join(threads[cancelled], &result);
  printf(" %d %d\n", error, result == PTHREAD_CANCELED);
  printf("let go: %d\n", pthread_detach(threads[let_go]));
  while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != all - 1) usleep(1000);
  printf("%d\n", values[let_go]);
  return 0;
}
