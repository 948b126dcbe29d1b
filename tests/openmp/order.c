/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that threads of several nodes write, between barriers and around regions, come in their order. */
#include <omp.h>
#include <stdio.h>
int main(void) {
  printf("begin\n");
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 20; ++i) {
    if (omp_get_thread_num() == (i * 3) % 4) printf("line %d\n", i);
#pragma omp barrier
  }
  printf("end\n");
#pragma omp parallel num_threads(4)
  if (omp_get_thread_num() == 3) printf("last of a region\n");
  printf("behind it\n");
  return 0;
}
