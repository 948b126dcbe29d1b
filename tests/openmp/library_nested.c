/* SPDX-License-Identifier: BSD-3-Clause */
// The nested functions of nested.c.
#include <omp.h>

__attribute__((noinline)) static int apply(int (*call)(int), int count) {
  int sum = 0;
  for (int i = 1; i <= count; i++) sum += call(i);
  return sum;
}

/// Code on the calling thread's stack.
__attribute__((noinline)) int sum_from(int first) {
  int add(int i) { return i + first; }
  return apply(add, 100);
}

/// Code on the stack of one thread, which all others run, and on their own.
__attribute__((noinline)) int sum_in_region(int first) {
  int total = 0;
  int add(int i) { return i + first; }
#pragma omp parallel reduction(+ : total)
  total += apply(add, 10) + sum_from(omp_get_thread_num());
  return total;
}
