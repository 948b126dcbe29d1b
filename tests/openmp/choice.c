/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose code shows what is defined: an UPDATE, a FENCE, a loop that waits (SPIN), or NOTHING. */
#include <omp.h>
#include <stdio.h>

static double large[20000];
static int word;

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 20000; ++i) large[i] = i;
#pragma omp parallel num_threads(4)
  {
#if defined UPDATE
#pragma omp atomic
    ++word;
#elif defined FENCE
#pragma omp flush
#elif defined SPIN
    __builtin_ia32_pause();
#endif
  }
  double sum = 0;
  for (int i = 0; i < 20000; ++i) sum += large[i];
  printf("%.0f %d\n", sum, word);
  return 0;
}
