/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes of threads that begin at notices (SIGEV_THREAD) may be destroyed, and be used again, before. */
#define _GNU_SOURCE
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_int ticks, wrong;

static void tick(union sigval value) {
  (void)value;
  cpu_set_t found;
  if (pthread_getaffinity_np(pthread_self(), sizeof found, &found) != 0 || CPU_COUNT(&found) != 1) wrong++;
  ticks++;
}
static void spoil(pthread_attr_t* about) {
  pthread_attr_destroy(about);
  memset(about, 0x5a, sizeof *about);
  for (int i = 0; i < 100; ++i) free(memset(malloc(8 * (size_t)i + 1), 0x5a, 8 * (size_t)i + 1));
}
static void* elsewhere(void* at) {
  cpu_set_t mine, one;
  sched_getaffinity(0, sizeof mine, &mine);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &mine)) CPU_SET(i, &one);
  }
  pthread_attr_t* about = malloc(sizeof *about);
  pthread_attr_init(about);
  pthread_attr_setaffinity_np(about, sizeof one, &one);
  pthread_attr_setstacksize(about, 1 << 20);
  struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick, .sigev_notify_attributes = about};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &how, &timer) != 0) perror("timer_create");
  spoil(about);
  free(about);
  const int before = ticks;
  struct itimerspec often = {{0, 5000000}, {0, 5000000}};
  timer_settime(timer, 0, &often, NULL);
  for (int i = 0; i < 10000 && ticks < before + 5; i++) usleep(1000);
  timer_delete(timer);
  printf("ticked %d, wrong %d\n", ticks >= before + 5, (int)wrong);
  fflush(stdout);
  return at;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, elsewhere, NULL);
    pthread_join(thread, NULL);
  }
  return 0;
}
