/* SPDX-License-Identifier: BSD-3-Clause */
/* A timer whose functions run on threads of their own still runs when the program ends; with a number, by exit(3) of
 * another thread. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int ticks;
static void tick(union sigval value) { ticks += value.sival_int; }
static void* leave(void* status) {
  while (ticks < 20) usleep(1000);
  exit((int)(long)status);
}

int main(int count, char** arguments) {
  struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick, .sigev_value.sival_int = 1};
  const struct itimerspec often = {{0, 500000}, {0, 500000}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &how, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0) return 1;
  puts("runs");
  fflush(stdout);
  if (count > 1) {
    pthread_t thread;
    pthread_create(&thread, NULL, leave, (void*)atol(arguments[1]));
    pthread_join(thread, NULL);
  }
  while (ticks < 20) usleep(1000);
  return 5;
}
