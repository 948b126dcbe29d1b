/* SPDX-License-Identifier: BSD-3-Clause */
/* Large static arrays that all threads write side by side, handed on by barriers, critical sections, and by flags and
 * counters in small variables. */
#include <omp.h>
#include <stdio.h>

enum { size = 40000, rounds = 20 };
static double large[size], other[size];
static int turn;
static long sum, taken;

static void hand_round(void) {
  turn = 0;
#pragma omp parallel num_threads(4)
  for (int round = 0; round < rounds; ++round) {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    int now;
    do {
#pragma omp atomic read acquire
      now = turn;
    } while (now != round * all + me);
    for (int i = 0; i < size; i += 997) large[i] += me + 1;
#pragma omp atomic write release
    turn = now + 1;
  }
}

static void count(void) {
  sum = taken = 0;
#pragma omp parallel num_threads(4)
  for (int round = 0; round < rounds; ++round) {
#pragma omp critical
    {
      for (int i = 0; i < size; i += 499) other[i] += 1;
      ++taken;
    }
#pragma omp atomic
    sum += round;
  }
}

int main(void) {
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < size; ++i) large[i] = i;
#pragma omp parallel for schedule(dynamic, 1000)
  for (int i = 0; i < size; ++i) other[i] = large[size - 1 - i];
  hand_round();
  count();
  double a = 0, b = 0;
  for (int i = 0; i < size; ++i) a += large[i], b += other[i] * (i % 7);
  printf("%.0f %.0f %d %ld %ld\n", a, b, turn, sum, taken);
  return 0;
}
