/* SPDX-License-Identifier: BSD-3-Clause */
// A thread blocks a signal but in the call that waits for descriptors: it ends that call, whenever it comes. One that
// nobody handles does not.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

enum { rounds = 240 };

static int fd[2], epoll, at, hits;
static sigset_t none, one;

static void count(int number) { __atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST); }

static void handle(int number, void (*by)(int), int flags) {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = by;
  a.sa_flags = flags;
  sigaction(number, &a, 0);
}

static int wait_once(int way) {
  const struct timespec most = {30, 0};
  struct pollfd f = {fd[0], POLLIN, 0};
  struct epoll_event e;
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd[0], &set);
  if (way == 0) return ppoll(&f, 1, &most, &none);
  if (way == 1) return pselect(fd[0] + 1, &set, 0, 0, &most, &none);
  return epoll_pwait(epoll, &e, 1, 30000, &none);
}

static void* wait_often(void* unused) {
  int ended = 0;
  pthread_sigmask(SIG_BLOCK, &one, 0);
  for (int i = 0; i < rounds; ++i) {
    __atomic_store_n(&at, i + 1, __ATOMIC_SEQ_CST);
    ended += wait_once(i % 3) == -1 && errno == EINTR;
  }
  printf("ended %d\n", ended);
  return 0;
}

static void await(int number) {
  while (__atomic_load_n(&at, __ATOMIC_SEQ_CST) != number) usleep(200);
}

static void send_at_any_time(void) {
  pthread_t thread;
  handle(SIGUSR1, count, 0);
  pthread_create(&thread, 0, wait_often, 0);
  for (int i = 0; i < rounds; ++i) {
    await(i + 1);
    const struct timespec pause = {0, i % 16 * 40000};
    if (pause.tv_nsec != 0) nanosleep(&pause, 0);
    pthread_kill(thread, SIGUSR1);
    while (__atomic_load_n(&hits, __ATOMIC_SEQ_CST) != i + 1) usleep(100);
  }
  pthread_join(thread, 0);
}

// SIGCHLD has no handler; SIGUSR1 has one, and waits before the call.
static void* wait_with_pending(void* unused) {
  const struct timespec little = {0, 50000000};
  struct pollfd f = {fd[0], POLLIN, 0};
  sigset_t two = one;
  sigaddset(&two, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &two, 0);
  pthread_kill(pthread_self(), SIGCHLD);
  printf("nobody handles: %d\n", ppoll(&f, 1, &little, &none));
  pthread_kill(pthread_self(), SIGUSR1);
  const int result = ppoll(&f, 1, 0, &none);
  printf("pending: %d %d\n", result, errno == EINTR);
  return 0;
}

int main(void) {
  sigemptyset(&none);
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  (void)!pipe(fd);
  epoll = epoll_create1(0);
  struct epoll_event e = {EPOLLIN, {0}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd[0], &e);
  send_at_any_time();
  pthread_t thread;
  pthread_create(&thread, 0, wait_with_pending, 0);
  pthread_join(thread, 0);
  printf("%d\n", hits);
  return 0;
}
