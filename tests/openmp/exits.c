/* SPDX-License-Identifier: BSD-3-Clause */
// exit(), or _exit(), in a region, by the thread and with the status that arguments say: handlers run once, on node 0,
// and the status is the program's.
#include <omp.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int shared_value;
static void on_exit_handler(void) { printf("a handler sees %d\n", shared_value); }

int main(int argc, char** argv) {
  const int who = argc > 1 ? atoi(argv[1]) : 0, status = argc > 2 ? atoi(argv[2]) : 5;
  atexit(on_exit_handler);
  if (who < 0) {
    shared_value = 41;
    errx(status, "by libc");
  }
#pragma omp parallel
  {
#pragma omp barrier
    if (omp_get_thread_num() == who) {
      shared_value = 42;
      if (argc > 3 && argv[3][0] == 'e') errx(status, "by libc");
      if (argc > 3) {
        printf("without handlers\n");
        fflush(stdout);
        _exit(status);
      }
      exit(status);
    }
#pragma omp barrier
  }
  printf("nobody comes here\n");
  return 0;
}
