/* SPDX-License-Identifier: BSD-3-Clause */
// Alternate stacks for signals in the program's memory, which is shared: small and large ones, of a thread that then
// computes with memory of other threads, and is asked for what it has given.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t ran, on_stack;
static char still[65536];
static int shared_sum;

static void handle(int signal) {
  (void)signal;
  char room[3000];
  memset(room, 1, sizeof room);
  stack_t now;
  sigaltstack(NULL, &now);
  on_stack = (now.ss_flags & SS_ONSTACK) != 0;
  shared_sum += room[10];
  ran++;
}
static void deep(int signal) {
  (void)signal;
  volatile char room[700 * 1024];
  for (size_t i = 0; i < sizeof room; i += 4096) room[i] = 1;
  ran += room[4096];
}

static void* use(void* at) {
  stack_t none, now, given = {.ss_sp = at, .ss_size = at == still ? sizeof still : 1u << 20},
                     disabled = {.ss_flags = SS_DISABLE};
  if (sigaltstack(NULL, &none) != 0 || (none.ss_flags & SS_DISABLE) == 0) puts("it has one already");
  if (sigaltstack(&given, NULL) != 0) perror("sigaltstack");
  raise(SIGUSR1);
  if (at != still) raise(SIGUSR2);
  sigaltstack(&disabled, &now);
  printf("ran %d, on it %d, told %d %zu\n", (int)ran, (int)on_stack, now.ss_sp == at, now.ss_size);
  raise(SIGUSR1);
  sigaltstack(&none, &now);
  printf("ran %d, disabled %d\n", (int)ran, (now.ss_flags & SS_DISABLE) != 0);
  for (int i = 0; i < 1000; i++) shared_sum += i & 1;
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  action.sa_handler = deep;
  sigaction(SIGUSR2, &action, NULL);
  for (int i = 0; i < 4; i++) {
    void* const stack = i % 2 == 0 ? still : malloc(1u << 20);
    if (stack != still) memset(stack, 1, 1u << 20);
    pthread_t thread;
    pthread_create(&thread, NULL, use, stack);
    pthread_join(thread, NULL);
    if (stack != still) free(stack);
  }
  stack_t small = {.ss_sp = still, .ss_size = 100};
  printf("small %d\n", sigaltstack(&small, NULL));
  printf("sum %d\n", shared_sum);
  return 0;
}
