/* SPDX-License-Identifier: BSD-3-Clause */
/* A mask may have each of the processors that the process had in the beginning, wherever its threads are bound by now.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static int processors[CPU_SETSIZE], count;

static int set_all(kmp_affinity_mask_t* mask) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += kmp_set_affinity_mask_proc(processors[i], mask) != 0;
  for (int i = 0; i < count; ++i) wrong += kmp_get_affinity_mask_proc(processors[i], mask) != 1;
  for (int i = 1; i < count; ++i) wrong += kmp_unset_affinity_mask_proc(processors[i], mask) != 0;
  return wrong;
}

int main(void) {
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &all)) processors[count++] = i;
  }
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    kmp_affinity_mask_t mask;
    kmp_create_affinity_mask(&mask);
    wrong += set_all(&mask);
    wrong += kmp_set_affinity(&mask) != 0;
    wrong += set_all(&mask);
#pragma omp barrier
    wrong += set_all(&mask);
    kmp_destroy_affinity_mask(&mask);
  }
  printf("wrong: %d\n", wrong);
  return 0;
}
