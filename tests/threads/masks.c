/* SPDX-License-Identifier: BSD-3-Clause */
// Which signals a new thread blocks: those of its attributes, or those of its maker.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static int blocked[6][2];

static void* look(void* at) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  ((int*)at)[0] = sigismember(&mask, SIGUSR1);
  ((int*)at)[1] = sigismember(&mask, SIGUSR2);
  return NULL;
}

int main(void) {
  sigset_t of_attributes, of_main;
  sigemptyset(&of_attributes);
  sigaddset(&of_attributes, SIGUSR1);
  sigemptyset(&of_main);
  sigaddset(&of_main, SIGUSR2);
  pthread_attr_t with, without;
  pthread_attr_init(&with);
  pthread_attr_init(&without);
  pthread_attr_setsigmask_np(&with, &of_attributes);
  pthread_sigmask(SIG_BLOCK, &of_main, NULL);
  const pthread_attr_t* how[] = {&with, &without, NULL};
  for (int i = 0; i < 6; ++i) {
    pthread_t thread;
    pthread_create(&thread, how[i % 3], look, blocked[i]);
    pthread_join(thread, NULL);
    printf("%d: %d %d\n", i, blocked[i][0], blocked[i][1]);
  }
  return 0;
}
