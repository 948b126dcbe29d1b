/* SPDX-License-Identifier: BSD-3-Clause */
// A recursion that has no end, on main()'s stack or on that of a thread of the team.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int deeper(volatile int depth) {
  volatile char room[1000];
  room[0] = (char)depth;
  return depth < 0 ? 0 : deeper(depth + 1) + room[0];
}

int main(int argc, char** argv) {
  const int thread = argc > 1 ? atoi(argv[1]) : -1;
  int sum = thread == 0 ? deeper(0) : 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
  if (omp_get_thread_num() == thread) sum += deeper(0);
  printf("%d\n", sum);
  return 0;
}
