/* SPDX-License-Identifier: BSD-3-Clause */
// What is private memory of one node, and another one accesses: each ends the job with a line that says what it is, and
// reads nothing else.
#include <dirent.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char** argv) {
  FILE* const stream = tmpfile();
  DIR* const directory = opendir("/");
  char* const file = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(fopen(argv[0], "r")), 0);
  long seen = 0;
#pragma omp parallel num_threads(4) reduction(+ : seen)
  if (omp_get_thread_num() == 3) {
    if (strcmp(argv[argc - 1], "stream") == 0) seen += putc_unlocked('t', stream);  // within the program's own code
    if (strcmp(argv[argc - 1], "directory") == 0) seen += *(volatile char*)directory;
    if (strcmp(argv[argc - 1], "file") == 0) seen += file[1] == 'E';
    if (strcmp(argv[argc - 1], "free") == 0) free(stream);
  }
  printf("%ld\n", seen);
  return 0;
}
