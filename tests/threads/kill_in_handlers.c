/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers send signals on by pthread_kill(3), to threads of all nodes, whatever they have interrupted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { threads = 4, rounds = 150 };
static pthread_t all[threads];
static _Atomic(pthread_t) targets[threads];
static atomic_int sent[threads], errors, caught, over, ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int shared[threads * 1024];

static void count(int number) {
  (void)number;
  caught++;
}
static void pass_on(int number, siginfo_t* about, void* context) {
  (void)number, (void)context;
  const int from = about->si_value.sival_int;
  if (pthread_kill(targets[(from + 1) % threads], SIGUSR2) != 0) errors++;
  sent[from]++;
}
static void* nothing(void* at) { return at; }

/* Each in its own way. */
static void work(int number) {
  pthread_t thread;
  switch (number) {
    case 0:
      if (pthread_create(&thread, NULL, nothing, NULL) == 0) pthread_join(thread, NULL);
      break;
    case 1:
      for (int i = 0; i < threads * 1024; i += 64) shared[i]++;
      free(malloc(10000));
      break;
    case 2:
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
      pthread_setname_np(all[0], "other");
      break;
    default:
      if (pthread_create(&thread, NULL, nothing, NULL) == 0) pthread_join(thread, NULL);
      access("/", R_OK);
  }
}
static void* live(void* at) {
  const int number = (int)(size_t)at;
  targets[number] = pthread_self();
  ready++;
  while (ready < threads) usleep(100);
  struct sigevent how = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1, .sigev_value.sival_int = number};
  how._sigev_un._tid = gettid();
  timer_t timer;
  struct itimerspec often = {{0, 1000000}, {0, 1000000}};
  if (timer_create(CLOCK_MONOTONIC, &how, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0) errors++;
  while (sent[number] < rounds) work(number);
  timer_delete(timer);
  over++;
  while (over < threads) usleep(100); /* for the others' signals */
  return at;
}

int main(void) {
  struct sigaction action = {.sa_handler = count};
  sigaction(SIGUSR2, &action, NULL);
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, NULL);
  for (size_t i = 0; i < threads; ++i) pthread_create(&all[i], NULL, live, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  int enough = 1;
  for (int i = 0; i < threads; ++i) enough &= sent[i] >= rounds;
  printf("sent %d, errors %d, caught some %d\n", enough, (int)errors, caught > 0);
  return 0;
}
