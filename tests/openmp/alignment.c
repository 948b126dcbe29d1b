/* SPDX-License-Identifier: BSD-3-Clause */
// A threadprivate variable that is aligned: variables of libraries may lie in the room that it leaves.
#include <stdio.h>

static _Alignas(ALIGNMENT) int aligned = 3;
static int other[3];
#pragma omp threadprivate(aligned, other)

int main(void) {
  int wrong = 0;
  aligned = 9;
  other[2] = 8;
#pragma omp parallel num_threads(4) copyin(aligned, other) reduction(+ : wrong)
  wrong += aligned != 9 || other[2] != 8 || (unsigned long)&aligned % ALIGNMENT != 0;
  printf("%d\n", wrong);
  return wrong;
}
