#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# SIGSTOP for a process of several threads that share memory with the sender, on processors that others use, too.
# Expected guess: the signal cannot be caught, so when kill(2) has returned nothing of the process runs any more, at most for an instant on another processor.
# Behaviour: kill() tells one thread. The others learn of it when that one has a processor next: until then each of them goes on whenever it gets one, and
# answers what it is asked by shared memory, a socket or a page fault, for many milliseconds. A test that stops a server, and then looks how clients
# fare, sees it answer. All have stopped when each /proc/PID/task/TID/stat says T.
# Seen on: Linux 6.18.44, 2 processors, 4 of 20 times and more. Exit status 1: this kernel does otherwise.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { times = 20, most = 64 };

static _Atomic long* answers; /* shared: what the process's second thread has done */

static void* serve(void* nothing) {
  for (;;) atomic_fetch_add(answers, 1);
  return nothing;
}
static void* compute(void* nothing) {
  for (;;) atomic_signal_fence(memory_order_seq_cst);
  return nothing;
}
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(void) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  pid_t busy[4 * most];
  const int all = (int)(4 * processors < 4 * most ? 4 * processors : 4 * most);
  answers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < all; ++i)
    if ((busy[i] = fork()) == 0) compute(NULL);
  int late = 0;
  double longest = 0;
  for (int i = 0; i < times; ++i) {
    const long before = atomic_load(answers);
    const pid_t server = fork();
    if (server == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, serve, NULL);
      compute(NULL);
    }
    while (atomic_load(answers) == before) usleep(1000);
    kill(server, SIGSTOP);
    const double told = now();
    double last = told;
    for (long seen = atomic_load(answers); now() - told < 500; usleep(1000)) {
      const long count = atomic_load(answers);
      if (count != seen) last = now();
      seen = count;
    }
    late += last - told > 2;
    if (last - told > longest) longest = last - told;
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
  }
  for (int i = 0; i < all; ++i) {
    kill(busy[i], SIGKILL);
    waitpid(busy[i], NULL, 0);
  }
  printf("%d of %d processes answered more than 2 ms after kill() of SIGSTOP had returned; the last answer came after %.0f ms\n", late, times, longest);
  return late == 0;
}
C
echo "Linux $(uname -r)"
gcc -O1 -o "$folder/it" "$folder/it.c" -pthread
"$folder/it"
