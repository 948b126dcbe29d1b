/* SPDX-License-Identifier: BSD-3-Clause */
// Parts of lines come in the order in which threads write them: in turns of a loop, one after the other's iteration, in
// a lock, in a critical section.
#include <omp.h>
#include <stdio.h>

enum { count = 48 };

int main(void) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < count; ++i) {
#pragma omp ordered
    printf("%d ", i);
  }
  printf("\n");
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 0; i < count; ++i) {
#pragma omp ordered depend(sink : i - 1)
    printf("%d ", i);
#pragma omp ordered depend(source)
  }
  printf("\n");
  omp_lock_t lock;
  omp_init_lock(&lock);
  int locked = 0, critical = 0;
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < count; ++i) {
    omp_set_lock(&lock);
    printf("%d ", locked++);
    omp_unset_lock(&lock);
  }
  printf("\n");
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < count; ++i) {
#pragma omp critical
    printf("%d ", critical++);
  }
  printf("\n");
  omp_destroy_lock(&lock);
  return 0;
}
