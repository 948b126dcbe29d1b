/* SPDX-License-Identifier: BSD-3-Clause */
// Calls that set a mask while they wait: a handler uses shared memory, whose pages other nodes have, under a mask of
// all signals.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>
static volatile int* page[8];
static int way, ready;
static const char* names[] = {"sigsuspend", "ppoll", "pselect", "epoll_pwait", "pause", "sigaction"};
static void h(int s) {
  for (int i = 0; i < 8; i++) page[i][0]++;
}
static void* w(void* p) {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGUSR2);
  int r = 0;
  struct pollfd f = {0};
  struct epoll_event e;
  struct timespec t = {20, 0};
  int ep = epoll_create1(0);
  __atomic_store_n(&ready, 1, 5);
  switch (way) {
    case 0:
      r = sigsuspend(&all);
      break;
    case 1:
      r = ppoll(&f, 0, &t, &all);
      break;
    case 2:
      r = pselect(0, 0, 0, 0, &t, &all);
      break;
    case 3:
      r = epoll_pwait(ep, &e, 1, 20000, &all);
      break;
    case 4: {
      sigset_t o;
      pthread_sigmask(SIG_SETMASK, &all, &o);
      r = pause();
      pthread_sigmask(SIG_SETMASK, &o, 0);
      break;
    }
    case 5: {
      sigset_t o, n;
      sigemptyset(&n);
      pthread_sigmask(SIG_SETMASK, &n, &o);
      r = pause();
      pthread_sigmask(SIG_SETMASK, &o, 0);
    }
  }
  printf("%s %d %d\n", names[way], r, errno == EINTR);
  close(ep);
  return 0;
}
int main() {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = h;
  sigfillset(&a.sa_mask);
  sigaction(SIGUSR2, &a, 0);
  sigset_t b;
  sigemptyset(&b);
  sigaddset(&b, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &b, 0);
  for (int i = 0; i < 8; i++) page[i] = aligned_alloc(4096, 4096);
  for (way = 0; way < 6; way++) {
    ready = 0;
    for (int i = 0; i < 8; i++) page[i][0] = way;
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    while (!__atomic_load_n(&ready, 5)) usleep(1000);
    usleep(50000);
    for (int i = 0; i < 8; i++) page[i][1]++;
    pthread_kill(t, SIGUSR2);
    pthread_join(t, 0);
    int s = 0;
    for (int i = 0; i < 8; i++) s += page[i][0];
    printf("%d\n", s);
  }
}
