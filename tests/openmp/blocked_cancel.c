/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread waits within a call of the kernel, for ever, and is cancelled there: its cleanup handlers run. One that is
 * not to be cancelled then is not disturbed. The threads are of the node of the region's last thread, or wherever
 * threads are (-DTHREADS). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifndef THREADS
#include <omp.h>
#endif

static int ends[2], full[2], pair[2], listening, polled;
static char text[1 << 17], path[] = "blocked_cancel.XXXXXX";
static FILE* stream;
static pid_t child;
extern char** environ;

static void call_read(void) { (void)!read(ends[0], text, 8); }
static void call_readv(void) {
  struct iovec part = {text, 8};
  (void)!readv(ends[0], &part, 1);
}
static void call_write(void) { (void)!write(full[1], text, 8); }
static void call_fgets(void) { (void)!fgets(text, 8, stream); }
static void call_poll(void) {
  struct pollfd one = {ends[0], POLLIN, 0};
  poll(&one, 1, -1);
}
static void call_ppoll_of_none(void) { ppoll(NULL, 0, NULL, NULL); }
static void call_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  select(ends[0] + 1, &set, NULL, NULL, NULL);
}
static void call_epoll_wait(void) {
  struct epoll_event one;
  epoll_wait(polled, &one, 1, -1);
}
static void call_accept(void) { accept(listening, NULL, NULL); }
static void call_recv(void) { recv(pair[0], text, 8, 0); }
static void call_recvmsg(void) {
  static struct iovec part = {text, 8};
  static struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  recvmsg(pair[0], &message, 0);
}
static void call_open_of_fifo(void) { (void)!open(path, O_RDONLY); }
static void call_waitpid(void) { waitpid(child, NULL, 0); }
static void call_wait(void) { wait(NULL); }
static void call_nanosleep(void) {
  struct timespec t = {1000, 0};
  nanosleep(&t, NULL);
}
static void call_pause(void) { pause(); }
static void call_sigsuspend(void) {
  sigset_t none;
  sigemptyset(&none);
  sigsuspend(&none);
}
static void call_sigwait(void) {
  sigset_t one;
  int found;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  sigwait(&one, &found);
}
static void call_sigtimedwait(void) {
  sigset_t one;
  siginfo_t found;
  struct timespec t = {1000, 0};
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  sigtimedwait(&one, &found, &t);
}

#define CALL(name) \
  { #name, call_##name }
static const struct {
  const char* name;
  void (*call)(void);
} calls[] = {CALL(read),          CALL(readv),        CALL(write),      CALL(fgets),       CALL(poll),
             CALL(ppoll_of_none), CALL(select),       CALL(epoll_wait), CALL(accept),      CALL(recv),
             CALL(recvmsg),       CALL(open_of_fifo), CALL(waitpid),    CALL(wait),        CALL(nanosleep),
             CALL(pause),         CALL(sigsuspend),   CALL(sigwait),    CALL(sigtimedwait)};
enum { all = sizeof calls / sizeof *calls };
static pthread_t thread;
static int ready, cleaned, is_refused;

static void clean(void* at) { ++*(int*)at; }
static void* work(void* at) {
  const size_t i = (size_t)at;
  pthread_cleanup_push(clean, &cleaned);
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  calls[i].call();
  pthread_cleanup_pop(0);
  return at;
}
/* Not to be cancelled: the call ends as it would. */
static void* refuse(void* at) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  is_refused = read(pair[0], text, 8) == 5;
  return at;
}
static void make(void* (*body)(void*), size_t i) {
  if (pthread_create(&thread, NULL, body, (void*)i) != 0) abort();
}
static void start(void* (*body)(void*), size_t i) {
  ready = 0;
#ifdef THREADS
  make(body, i);
#else
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) make(body, i);
#endif
  while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) usleep(100);
  usleep(i % 2 == 0 ? 20000 : 50);
}

static void try(size_t i) {
  cleaned = 0;
  start(work, i);
  pthread_cancel(thread);
  void* result = NULL;
  pthread_join(thread, &result);
  printf("%s: %s, cleaned %d\n", calls[i].name, result == PTHREAD_CANCELED ? "cancelled" : "not cancelled", cleaned);
}

static void try_refusing(void) {
  start(refuse, 0);
  pthread_cancel(thread);
  usleep(20000);
  (void)!write(pair[1], "right", 5);
  void* result = NULL;
  pthread_join(thread, &result);
  printf("not to be cancelled: %s, %s\n", result == NULL ? "goes on" : "cancelled", is_refused ? "read" : "not read");
}

int main(int count, char** arguments) {
  char name[] = "sleep", time[] = "1000", *words[] = {name, time, NULL};
  (void)!pipe(ends);
  (void)!pipe(full);
  fcntl(full[1], F_SETFL, O_NONBLOCK);
  while (write(full[1], text, sizeof text) > 0) {
  }
  while (write(full[1], text, 1) > 0) {
  }
  fcntl(full[1], F_SETFL, 0);
  stream = fdopen(dup(ends[0]), "r");
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  listening = socket(AF_INET, SOCK_STREAM, 0);
  listen(listening, 5);
  polled = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(polled, EPOLL_CTL_ADD, ends[0], &event);
  close(mkstemp(path));
  unlink(path);
  (void)!mkfifo(path, 0600);
  posix_spawnp(&child, name, NULL, NULL, words, environ);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &one, NULL);
  for (size_t i = 0; i < all; ++i) {
    if (count < 2 || strcmp(arguments[1], calls[i].name) == 0) try(i);
  }
  try_refusing();
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  unlink(path);
  return 0;
}
