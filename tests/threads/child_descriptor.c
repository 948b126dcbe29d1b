/* SPDX-License-Identifier: BSD-3-Clause */
// A child that a thread of any node has made is waited for by its descriptor (pidfd_open(2)); with PIDFD_NONBLOCK who
// waits for one that lives is told so.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
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

static void* make_lasting(void* at) {
  char lasts[] = "exec sleep 100";
  char* arguments[] = {(char[]){"sh"}, (char[]){"-c"}, lasts, 0};
  posix_spawn(at, "/bin/sh", 0, 0, arguments, environ);
  return 0;
}

static void ask(id_t fd, int options) {
  siginfo_t about = {0};
  const int result = waitid(P_PIDFD, fd, &about, options);
  if (result == 0) errno = 0;
  printf("%d %d %d %d; ", result, errno == EAGAIN, errno == ECHILD, about.si_pid != 0);
}

static void ask_without_waiting(void) {
  for (int i = 0; i < children; ++i) {
    pthread_t thread;
    pid_t lasting = 0;
    siginfo_t about = {0};
    pthread_create(&thread, 0, make_lasting, &lasting);
    pthread_join(thread, 0);
    const id_t fd = (id_t)syscall(SYS_pidfd_open, lasting, O_NONBLOCK);
    ask(fd, WEXITED);
    ask(fd, WEXITED | WNOHANG);
    kill(lasting, SIGKILL);
    printf("%d ", waitid(P_PID, (id_t)lasting, &about, WEXITED | WNOWAIT));
    ask(fd, WEXITED);
    ask(fd, WEXITED);
    printf("%d\n", about.si_code == CLD_KILLED);
  }
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
  ask_without_waiting();
  return 0;
}
