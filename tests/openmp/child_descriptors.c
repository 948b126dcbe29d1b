/* SPDX-License-Identifier: BSD-3-Clause */
// A child of vfork(2) on another node has that node's descriptors: dup2() of the program's number must not copy one of
// Quire's, which has that number there. Calls that are made on node 0 only fail elsewhere, with a line. On node 0 both
// work as ever.
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(const char* what, long found, long wanted) {
  if (found == wanted) return;
  printf("%s: %ld instead of %ld\n", what, found, wanted);
  exit(1);
}

int main(int count, char** arguments) {
  const int works_elsewhere = count > 1 && *arguments[1] == '1';
  const int fd = open("/dev/null", O_WRONLY);
  int copied[2] = {-1, -1}, failed[2] = {-1, -1};
#pragma omp parallel num_threads(2)
  {
    const int me = omp_get_thread_num();
    const pid_t child = vfork();
    if (child == 0) _exit(dup2(fd, 1) == 1 ? 0 : errno == ENOTSUP ? 2 : 3);
    int status = -1;
    if (waitpid(child, &status, 0) == child) copied[me] = WEXITSTATUS(status);
    errno = 0;
    failed[me] = fpathconf(fd, _PC_PIPE_BUF) == -1 ? errno : 0;
  }
  expect("dup2 on node 0", copied[0], 0);
  expect("fpathconf on node 0", failed[0], 0);
  expect("dup2", copied[1], works_elsewhere ? 0 : 2);
  expect("fpathconf", failed[1], works_elsewhere ? 0 : ENOTSUP);
  puts("all as it should be");
  return 0;
}
