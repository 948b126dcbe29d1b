/* SPDX-License-Identifier: BSD-3-Clause */
/* Each thread has more on its stack than glibc gives to one under `ulimit -s unlimited` (2 MiB), and less than the
 * usual limit. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { bytes = 5 << 20 };

int main(void) {
  int right = 0;
#pragma omp parallel reduction(+ : right)
  {
    char own[bytes];
    const char mark = (char)(omp_get_thread_num() + 1);
    memset(own, mark, sizeof own);
#pragma omp barrier
    int same = 1;
    for (int i = 0; i < bytes; i += 4096) same &= ((volatile char*)own)[i] == mark;
    right += same;
  }
  printf("%d of %d threads find what they have written\n", right, omp_get_max_threads());
  return 0;
}
