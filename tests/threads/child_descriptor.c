/* SPDX-License-Identifier: BSD-3-Clause */
// A child that a thread of any node has made is waited for by its descriptor (pidfd_open(2)).
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { children = 3 };

extern char** environ;
static pid_t child[children];

static void* make(void* at) {
  char ends[] = "exit 7";
  char* arguments[] = {(char[]){"sh"}, (char[]){"-c"}, ends, 0};
  posix_spawn(at, "/bin/sh", 0, 0, arguments, environ);
  return 0;
}

int main(void) {
  pthread_t thread[children];
  for (int i = 0; i < children; ++i) pthread_create(thread + i, 0, make, child + i);
  for (int i = 0; i < children; ++i) {
    siginfo_t about = {0};
    pthread_join(thread[i], 0);
    const int fd = (int)syscall(SYS_pidfd_open, child[i], 0);
    printf("%d", waitid(P_PIDFD, (id_t)fd, &about, WEXITED));
    printf(" %d %d", about.si_pid == child[i], about.si_status);
    printf(" %d", waitid(P_PIDFD, (id_t)fd, &about, WEXITED));
    printf(" %d\n", errno == ECHILD);
  }
  return 0;
}
