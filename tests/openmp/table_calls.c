/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread calls functions of libraries while another one writes a variable that lies beside the tables of their
   addresses: what is written does not come to who calls. */
#include <omp.h>
#include <stdio.h>

static volatile int written;

int main(void) {
  enum { rounds = 200, calls = 20 };
  int wrong = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
  for (int i = 0; i < rounds; ++i) {
    if (omp_get_thread_num() == 1) written = i;
#pragma omp barrier
    if (omp_get_thread_num() == 0)
      for (int c = 0; c < calls; ++c) wrong += omp_get_level() != 1;
#pragma omp barrier
  }
  printf("%d wrong, %s\n", wrong, written == rounds - 1 ? "all written" : "not all written");
  return wrong != 0 || written != rounds - 1;
}
