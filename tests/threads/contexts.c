/* SPDX-License-Identifier: BSD-3-Clause */
// Contexts (getcontext(3)) and their stacks in the program's memory, which is shared: coroutines of a thread, contexts
// that one thread makes and another goes on with, their links, arguments, signal masks, and a thread that returns by
// setcontext(3).
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { stack_bytes = 65536, turns = 2000 };
static ucontext_t contexts[4] __attribute__((aligned(4096)));
static ucontext_t back, other;
static int ran, sum, blocked;

static void body(int a, int b, int c, int d, int e, int f, int g, int h) {
  sum += a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
  ran++;
}
static void make(ucontext_t* of) {
  getcontext(of);
  of->uc_stack.ss_sp = malloc(stack_bytes);
  of->uc_stack.ss_size = stack_bytes;
  of->uc_link = &back;
  makecontext(of, (void (*)(void))body, 8, 1, 2, 3, 4, 5, 6, 7, 8);
}
static void* go_on(void* with) {
  if (swapcontext(&back, with) != 0) perror("swapcontext");
  return NULL;
}
static void step(void) {
  for (int i = 0; i < turns; i++) {
    sum++;
    if (swapcontext(&other, &back) != 0) perror("swapcontext");
  }
}
static void* alternate(void* unused) {
  (void)unused;
  getcontext(&other);
  other.uc_stack.ss_sp = malloc(stack_bytes);
  other.uc_stack.ss_size = stack_bytes;
  other.uc_link = &back;
  makecontext(&other, step, 0);
  for (int i = 0; i <= turns; i++) {
    sum += 2;
    if (swapcontext(&back, &other) != 0) perror("swapcontext");
  }
  return NULL;
}
/// Others use the page of the contexts meanwhile.
static volatile int* beside;
static volatile int stops;
static void* disturb(void* unused) {
  (void)unused;
  while (!stops) ++*beside;
  return NULL;
}
static void masked(void) {
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  blocked = sigismember(&now, SIGUSR1) * 10 + sigismember(&now, SIGUSR2);
}
static void* with_mask(void* unused) {
  (void)unused;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_SETMASK, &set, NULL);
  getcontext(&other);
  other.uc_stack.ss_sp = malloc(stack_bytes);
  other.uc_stack.ss_size = stack_bytes;
  other.uc_link = &back;
  makecontext(&other, masked, 0);
  sigemptyset(&other.uc_sigmask);
  sigaddset(&other.uc_sigmask, SIGUSR1);
  swapcontext(&back, &other);
  pthread_sigmask(SIG_SETMASK, NULL, &set);
  printf("blocked there %d, here %d %d\n", blocked, sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2));
  return NULL;
}
static void* jump(void* unused) {
  (void)unused;
  volatile int times = 0;
  getcontext(&other);
  if (++times < 5) setcontext(&other);
  printf("times %d\n", times);
  return NULL;
}
static void run(void* (*what)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, what, argument);
  pthread_join(thread, NULL);
}

int main(void) {
  for (int i = 0; i < 4; i++) {
    make(&contexts[i]);
    run(go_on, &contexts[i]);
  }
  printf("ran %d, sum %d\n", ran, sum);
  sum = 0;
  beside = (volatile int*)&back.uc_flags;
  pthread_t thread;
  pthread_create(&thread, NULL, disturb, NULL);
  run(alternate, NULL);
  stops = 1;
  pthread_join(thread, NULL);
  printf("sum %d\n", sum);
  run(with_mask, NULL);
  run(jump, NULL);
  ucontext_t end;
  getcontext(&end);
  end.uc_stack.ss_sp = malloc(stack_bytes);
  end.uc_stack.ss_size = stack_bytes;
  end.uc_link = NULL;
  makecontext(&end, masked, 0);
  fflush(stdout);
  setcontext(&end);
  puts("never");
  return 1;
}
