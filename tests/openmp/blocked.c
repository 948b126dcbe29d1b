/* SPDX-License-Identifier: BSD-3-Clause */
// A program ends while a thread waits in a call: `blocked exit READER`, called by the last thread of a region while
// another one waits for standard input; `blocked end`, of main().
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char line[100];
static int ends[2];
static volatile int reading;

static void* read_for_ever(void* none) {
  reading = 1;
  return read(ends[0], line, sizeof line) > 0 ? line : none;
}
static void leave(void) {
  printf("a handler of atexit\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  const int exits = argc > 1 && strcmp(argv[1], "exit") == 0, reader = argc > 2 ? atoi(argv[2]) : 1;
  if (pipe(ends) != 0) return 1;
  atexit(leave);
  if (exits && dup2(ends[0], 0) != 0) return 2;
#pragma omp parallel num_threads(4)
  {
    const int last = omp_get_thread_num() == omp_get_num_threads() - 1;
    if (exits && omp_get_thread_num() == reader) {
      reading = 1;
      if (fgets(line, sizeof line, stdin) != NULL) printf("a line\n");
    }
    if (last) {
      pthread_t thread;
      if (!exits && pthread_create(&thread, NULL, read_for_ever, NULL) == 0) pthread_detach(thread);
      while (!reading) usleep(1000);
      usleep(50000);
      if (exits) {
        printf("the last thread\n");
        exit(3);
      }
    }
  }
  printf("the end\n");
  return 4;
}
