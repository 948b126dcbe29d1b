/* SPDX-License-Identifier: BSD-3-Clause */
// Descriptors that Quire opens while the program runs are closed to it, on any node; a number that Quire, or libc, has
// closed is the program's when a call has given it that.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

int open_late(void);
int open_late_event(void);
int close_late(int fd);

static void expect(const char* what, long found, long wanted) {
  if (found == wanted) return;
  printf("%s: %ld instead of %ld\n", what, found, wanted);
  exit(1);
}
static int error_of(int result) { return result == 0 ? 0 : errno; }

int main(int count, char** arguments) {
  for (int round = 0; round < 2; ++round) {
    int late = open_late(), kept[2] = {-1, -1};
    for (int who = 0; who < 2; ++who) {
#pragma omp parallel num_threads(2)
      if (omp_get_thread_num() == who) kept[who] = error_of(close(late));
    }
    expect("close by the first thread", kept[0], EBADF);
    expect("close by the second thread", kept[1], EBADF);
    expect("dup2", dup2(0, late), -1);
    expect("close by the library", close_late(late), 0);

    int mine = open("/dev/zero", O_RDONLY);
    expect("the same number", mine, late);
    expect("close", close(mine), 0);

    // Closed past all functions of libc's that are Quire's, too; and given by such a one.
    late = open_late();
    syscall(SYS_close, late);
    FILE* const stream = fopen("/dev/zero", "r");
    expect("the same number of a stream", fileno(stream), late);
    expect("dup2 to that", dup2(0, late), late);
    fclose(stream);

    // What has no file of its own is not told apart by that.
    late = open_late_event();
    syscall(SYS_close, late);
    mine = -1;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == round) mine = eventfd(0, 0);
    expect("the same number of an event", mine, late);
    expect("close", close(mine), 0);
    int two[2];
    late = open_late_event();
    syscall(SYS_close, late);
    expect("pipe", pipe(two), 0);
    expect("the same number of a pipe", two[0], late);
    expect("close", close(two[0]) | close(two[1]), 0);
  }
  puts("all as it should be");
  return 0;
}
