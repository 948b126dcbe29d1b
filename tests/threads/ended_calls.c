/* SPDX-License-Identifier: BSD-3-Clause */
// A signal to a thread ends the call that it waits in, wherever that is made; those that wait for descriptors with
// SA_RESTART, too.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>
static int way, ready, fd[2], ls, ep;
static volatile int hits;
static const int kinds[] = {0, 1, 2, 3, 4, 5, 1, 3, 5}, first_restarted = 6;
static void h(int s) { hits++; }
static void* w(void* p) {
  char c;
  struct pollfd f = {fd[0], POLLIN, 0};
  struct epoll_event e;
  long r = 0;
  __atomic_store_n(&ready, 1, 5);
  switch (kinds[way]) {
    case 0:
      r = read(fd[0], &c, 1);
      break;
    case 1:
      r = poll(&f, 1, 20000);
      break;
    case 2:
      r = accept(ls, 0, 0);
      break;
    case 3:
      r = epoll_wait(ep, &e, 1, 20000);
      break;
    case 4:
      r = usleep(20000000);
      break;
    case 5: {
      fd_set s;
      FD_ZERO(&s);
      FD_SET(fd[0], &s);
      r = select(fd[0] + 1, &s, 0, 0, 0);
      break;
    }
  }
  printf("%d: %ld %d\n", way, r, errno == EINTR);
  return 0;
}
int main() {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = h;
  sigaction(SIGUSR2, &a, 0);
  pipe(fd);
  ls = socket(AF_UNIX, SOCK_STREAM, 0);
  const sa_family_t family = AF_UNIX;  // the kernel chooses a name
  bind(ls, (const void*)&family, sizeof family);
  listen(ls, 1);
  ep = epoll_create1(0);
  struct epoll_event e = {EPOLLIN, {0}};
  epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e);
  for (way = 0; way < 9; way++) {
    a.sa_flags = way >= first_restarted ? SA_RESTART : 0;
    sigaction(SIGUSR2, &a, 0);
    ready = 0;
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    while (!__atomic_load_n(&ready, 5)) usleep(1000);
    usleep(100000);
    pthread_kill(t, SIGUSR2);
    pthread_join(t, 0);
    printf("%d\n", hits);
    fflush(stdout);
  }
}
