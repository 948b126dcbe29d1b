#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# sched_yield(2) of threads with slices of different lengths (sched_setattr(2), Linux 6.12), on one core.
# Expected guess: threads of the same weight that do nothing but give way to each other get as many turns each; a short slice means to be let in sooner.
# Behaviour: giving way costs a thread its whole slice (since Linux 6.18), used or not. Those with short slices get as many turns more as their slices
# are shorter: they turn around each other, while the one that all may wait for has a long slice.
# Seen on: Linux 6.18.44. Exit status 1: this kernel does otherwise.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/yields.c" <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct attributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};
static volatile int ended;
static long turns[3];

static void* yield(void* which) {
  struct attributes wish;
  const long me = (long)which;
  memset(&wish, 0, sizeof wish);
  wish.size = sizeof wish;
  wish.runtime = 100000;
  if (me != 0 && syscall(SYS_sched_setattr, 0, &wish, 0) != 0) ended = 2;
  while (!ended) {
    sched_yield();
    ++turns[me];
  }
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  cpu_set_t mine, one;
  int core = 0;
  sched_getaffinity(0, sizeof mine, &mine);
  while (!CPU_ISSET(core, &mine)) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, yield, (void*)i);
  usleep(300000);
  if (ended == 0) ended = 1;
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  if (ended == 2) return 77;
  printf("turns: %ld with a long slice, %ld and %ld with a short one\n", turns[0], turns[1], turns[2]);
  return turns[1] > 4 * turns[0] ? 0 : 1;
}
C
echo "Linux $(uname -r)"
gcc -O1 -pthread -o "$folder/yields" "$folder/yields.c"
"$folder/yields"
