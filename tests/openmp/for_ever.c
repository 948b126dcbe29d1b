/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that compute until somebody ends them. */
int main(void) {
#pragma omp parallel
  for (volatile unsigned long turns = 0;; ++turns) continue;
}
