/* SPDX-License-Identifier: BSD-3-Clause */
/* Processors are those of the hosts, each counted once, however many nodes there are. With an argument: whether a
 * region has as many threads, where nobody says how many. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char** arguments) {
  (void)arguments;
  int threads = 0;
#pragma omp parallel
#pragma omp atomic
  ++threads;
  if (count > 1)
    printf("%d\n", threads == omp_get_num_procs() && threads == omp_get_max_threads());
  else
    printf("%d %ld\n", omp_get_num_procs(), sysconf(_SC_NPROCESSORS_ONLN));
  return 0;
}
