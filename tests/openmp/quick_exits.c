/* SPDX-License-Identifier: BSD-3-Clause */
// quick_exit() of one thread of a region: `quick_exits THREAD STATUS`; of -1 before any. Handlers see shared memory,
// wherever they were registered and wherever it was called; those of atexit() do not run.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int seen = 1;
static void first(void) {
  printf("the handler of main: %d\n", seen);
  fflush(stdout);
}
static void second(void) {
  printf("the handler of the last thread: %d\n", seen);
  fflush(stdout);
}
static void never(void) {
  printf("a handler of atexit\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  const int who = argc > 1 ? atoi(argv[1]) : -1, status = argc > 2 ? atoi(argv[2]) : 0;
  at_quick_exit(first);
  atexit(never);
  printf("begin\n");
  fflush(stdout);
  if (who < 0) quick_exit(status);
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      at_quick_exit(second);
      seen = 5;
    }
#pragma omp barrier
    if (omp_get_thread_num() == who) quick_exit(status);
#pragma omp barrier
  }
  printf("the end\n");
  return 0;
}
