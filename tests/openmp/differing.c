/* SPDX-License-Identifier: BSD-3-Clause */
// What a process has once, where hosts differ: `differing mask`, `directory NAME`, `locale NAME`, `library_path`.
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// Which directory this process is in: each node answers for itself, as a child is its own.
static int is_in(const char* directory) {
  char command[1000];
  snprintf(command, sizeof command, "[ \"$(/bin/pwd)\" = '%s' ]", directory);
  return system(command) == 0;
}

int main(int count, char** arguments) {
  const char *const how = count > 1 ? arguments[1] : "", *const name = count > 2 ? arguments[2] : "/";
  int alike = 0;
  if (strcmp(how, "mask") == 0) {
    unsigned before[2] = {0777, 0777};
    for (int who = 1; who >= 0; --who) {
#pragma omp parallel num_threads(2)
      if (omp_get_thread_num() == who) before[who] = umask(027);
    }
    printf("%o %o\n", before[1], before[0]);
  }
  if (strcmp(how, "directory") == 0) {
    chdir("/");
    for (int who = 0; who < 2; ++who) {
      int result = 0, error = 0;
#pragma omp parallel num_threads(2)
      if (omp_get_thread_num() == who) {
        errno = 0;
        result = chdir(name);
        error = errno;
      }
      printf("%d %s\n", result, strerror(error));
    }
#pragma omp parallel num_threads(2) reduction(+ : alike)
    alike = is_in("/");
    printf("in / %d\n", alike);
  }
  if (strcmp(how, "locale") == 0) {
    for (int who = 0; who < 2; ++who) {
      int is_set = 0;
#pragma omp parallel num_threads(2)
      if (omp_get_thread_num() == who) is_set = setlocale(LC_ALL, name) != NULL;
      printf("%d\n", is_set);
    }
#pragma omp parallel num_threads(2) reduction(+ : alike)
    alike = strcmp(setlocale(LC_ALL, NULL), "C") == 0;
    printf("in C %d\n", alike);
  }
  if (strcmp(how, "library_path") == 0) {
    for (int who = 0; who < 2; ++who) {
      static char path[8192];
#pragma omp parallel num_threads(2)
      if (omp_get_thread_num() == who) {
        const char* const own = getenv("LD_LIBRARY_PATH");
        snprintf(path, sizeof path, "%s", own != NULL ? own : "none");
      }
      printf("%s\n", path);
    }
  }
  return 0;
}
