/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of regions in all kinds: what gcc makes of the clause reduction, and what only looks like it. With an argument:
 * as many regions with one sum; with another one: with two. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 1000, rounds = 20 };
static long seen;

static __attribute__((noinline)) double plain(int k) {
  double sum = k;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += 0.5 * i;
  return sum;
}
static __attribute__((noinline)) float shorter(int k) {
  float sum = (float)k;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += 0.25f;
  return sum;
}
static __attribute__((noinline)) int whole(int k) {
  int sum = -k;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += i - 3;
  return sum;
}
static __attribute__((noinline)) unsigned long wraps(int k) {
  unsigned long sum = ~0ul - (unsigned long)k;
#pragma omp parallel for reduction(- : sum)
  for (int i = 0; i < n; ++i) sum -= 0xffffffff12345678ul + (unsigned long)i;
  return sum;
}
static __attribute__((noinline)) double product(int k) {
  double all = k + 1;
#pragma omp parallel for reduction(* : all)
  for (int i = 0; i < 30; ++i) all *= i % 2 == 0 ? 2 : 0.5;
  return all;
}
static __attribute__((noinline)) double extremes(int k) {
  double least = 1e9, most = -1e9;
  int low = 1 << 30;
#pragma omp parallel for reduction(min : least, low) reduction(max : most)
  for (int i = 0; i < n; ++i) {
    const double x = (i * 37 + k) % 1009 - 500.25;
    if (x < least) least = x;
    if (x > most) most = x;
    if (i * 7 % 100 - k < low) low = i * 7 % 100 - k;
  }
  return least * 1e6 + most + low;
}
static __attribute__((noinline)) double several(int k) {
  double a = k, b = 1;
  long c = 0;
  float d = 0;
#pragma omp parallel for reduction(+ : a, b, c, d)
  for (int i = 0; i < n; ++i) {
    a += i;
    b += 0.125;
    c += i % 5;
    d += 0.5f;
  }
  return a + 10 * b + 100 * (double)c + d;
}
/* gcc adds to both under a lock. */
static __attribute__((noinline)) double two(int k) {
  double a = k, b = 1;
#pragma omp parallel for reduction(+ : a, b)
  for (int i = 0; i < n; ++i) {
    a += 0.5 * i;
    b += 0.125;
  }
  return a + 10 * b;
}
/* And the same lock is for what all share. */
static long double shared_by_all;
static __attribute__((noinline)) double two_beside_others(int k) {
  double a = k, b = 1;
#pragma omp parallel reduction(+ : a, b)
  for (int i = 0; i < 50; ++i) {
    a += i;
    b += 0.25;
#pragma omp atomic
    shared_by_all += 1;
  }
  return a + 10 * b + (double)shared_by_all;
}
static __attribute__((noinline)) unsigned bits(int k) {
  unsigned any = (unsigned)k, all = ~0u;
#pragma omp parallel for reduction(| : any) reduction(& : all)
  for (int i = 0; i < 20; ++i) {
    any |= 1u << i;
    all &= ~(1u << (i + 4));
  }
  return any ^ all;
}
/* A thread looks at the sum while the region runs. */
static __attribute__((noinline)) long looked_at(int k) {
  long sum = k, wrong = 0;
#pragma omp parallel shared(sum) reduction(+ : wrong)
  {
#pragma omp atomic
    sum += 2;
#pragma omp barrier
    long now;
#pragma omp atomic read
    now = sum;
    if (now != k + 2 * omp_get_num_threads()) ++wrong;
  }
  return sum * 100 + wrong;
}
/* Only the last thread comes to nothing. */
static __attribute__((noinline)) long last_one(int k) {
  int left = omp_get_max_threads();
  long lasts = 0;
#pragma omp parallel shared(left, lasts)
  {
    int now;
#pragma omp atomic capture
    now = --left;
    if (now == 0) lasts += k + 1;
  }
  return lasts * 10 + left;
}
static __attribute__((noinline)) long under_a_lock(int k) {
  long sum = k, most = 0;
#pragma omp parallel shared(sum, most)
  {
    const long mine = omp_get_thread_num() + 1;
#pragma omp critical
    sum += mine;
#pragma omp critical
    if (mine > most) most = mine;
  }
  return sum * 100 + most;
}
static __attribute__((noinline)) long once(int k) {
  long sum = k;
#pragma omp parallel shared(sum)
  {
#pragma omp single
    sum += 5;
#pragma omp masked
    seen += sum >= 0;
  }
  return sum;
}
/* Two threads write what was there before all waited, and less. */
static __attribute__((noinline)) long kept(int k) {
  long last = k;
  const long less = 2 * k + 3;
#pragma omp parallel shared(last)
  {
    const long before = last;
#pragma omp barrier
    if (omp_get_thread_num() == 0) last = before - less;
#pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() - 1) last = before - less;
  }
  return last;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    double sum = 0;
    for (int i = 0; i < atoi(argv[1]); ++i) sum += argc > 2 ? two(i) : plain(i);
    return sum < 0;
  }
  for (int k = 0; k < rounds; ++k) {
    printf("%.17g %.9g %d %lu %.17g %.17g %.17g", plain(k), (double)shorter(k), whole(k), wraps(k), product(k),
           extremes(k), several(k));
    printf(" %.17g %.17g", two(k), two_beside_others(k));
    printf(" %u %ld %ld %ld %ld %ld\n", bits(k), looked_at(k), last_one(k), under_a_lock(k), once(k), kept(k));
  }
  printf("%ld\n", seen);
  return 0;
}
