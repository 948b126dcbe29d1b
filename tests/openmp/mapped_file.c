/* SPDX-License-Identifier: BSD-3-Clause */
// A file that is mapped where it is not: the program is told so, and goes on, or ends, as it likes.
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <sys/mman.h>

int main(int count, char** arguments) {
  const int fd = open(arguments[count - 1], O_RDONLY);
  int mapped = 0;
#pragma omp parallel num_threads(4)
  if (omp_get_thread_num() == 3) mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED;
  printf("mapped: %d\n", mapped);
  return mapped ? 0 : 1;
}
