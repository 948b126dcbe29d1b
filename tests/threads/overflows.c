/* SPDX-License-Identifier: BSD-3-Clause */
// Handlers on alternate stacks of all kinds leave by siglongjmp(3): of bad accesses, of signals that are sent, and of a
// stack that has run over.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static __thread sigjmp_buf jb;
static __thread int hits;
static void h(int s, siginfo_t* i, void* c) {
  hits++;
  siglongjmp(jb, s);
}
static char st[4][65536];
static int deep(int n) {
  volatile char c[4096];
  c[0] = n;
  return n <= 0 ? c[0] : deep(n - 1) + c[0];
}
static void* work(void* p) {
  long k = (long)p;
  stack_t s = {0};
  s.ss_size = 65536;
  s.ss_sp = k == 0   ? malloc(65536)
            : k == 1 ? mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                     : (void*)st[k];
  if (sigaltstack(&s, 0)) perror("sigaltstack");
  for (int i = 0; i < 3; i++)
    if (sigsetjmp(jb, 1) == 0) *(volatile int*)16 = 1;
  if (sigsetjmp(jb, 1) == 0) raise(SIGUSR1);
  if (sigsetjmp(jb, 1) == 0) {
    pthread_kill(pthread_self(), SIGUSR1);
  }
  if (sigsetjmp(jb, 1) == 0) abort();
  volatile int iz = 0;
  if (sigsetjmp(jb, 1) == 0) iz = 5 / iz;
  if (k >= 2 && sigsetjmp(jb, 1) == 0) deep(1 << 20);
  stack_t o;
  sigaltstack(0, &o);
  printf("%d %d\n", o.ss_sp == s.ss_sp, o.ss_flags);
  s.ss_flags = SS_DISABLE;
  sigaltstack(&s, &o);
  sigaltstack(0, &o);
  printf("%d\n", o.ss_flags);
  return (void*)(long)hits;
}
int main() {
  struct sigaction a = {0};
  a.sa_sigaction = h;
  a.sa_flags = SA_ONSTACK | SA_SIGINFO;
  sigaction(SIGSEGV, &a, 0);
  sigaction(SIGBUS, &a, 0);
  sigaction(SIGUSR1, &a, 0);
  sigaction(SIGABRT, &a, 0);
  sigaction(SIGFPE, &a, 0);
  for (long k = 0; k < 4; k++) {
    pthread_t t;
    pthread_attr_t at;
    pthread_attr_init(&at);
    pthread_attr_setstacksize(&at, 1 << 18);
    pthread_create(&t, &at, work, (void*)k);
    void* r;
    pthread_join(t, &r);
    printf("%ld\n", (long)r);
  }
}
