/* SPDX-License-Identifier: BSD-3-Clause */
/* What regions get from the master's frame: read by the function, written by it, in a sum, handed on to tasks and to
 * regions within; many, and changing from region to region. Without TASKS: as many regions as the argument says, which
 * read only. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct block {
  long first, many[40], last;
};
static long seen[8], wrong;

static void check(int right) {
  if (!right) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void reads(int rounds) {
  long a = 1;
  double x = 0.5;
  char c = 'a';
  for (int i = 0; i < rounds; ++i, a += 3, x += 1) {
#pragma omp parallel
    {
      long* const mine = &seen[omp_get_thread_num() % 8];
      if (a != 1 + 3l * i || x != 0.5 + i || c != 'a') *mine = -1000000;
    }
  }
}
#ifdef TASKS
static __attribute__((noinline)) long writes(int rounds) {
  long sum = 0, last = 0;
  for (int i = 0; i < rounds; ++i) {
    long one = i;
#pragma omp parallel for reduction(+ : sum) lastprivate(last) shared(one)
    for (int k = 0; k < 16; ++k) {
      sum += k + one;
      last = k;
    }
#pragma omp parallel shared(one)
    {
#pragma omp single
      one += 5;
      check(one == i + 5);
#pragma omp barrier
#pragma omp masked
      one = -1;
#pragma omp barrier
      check(one == -1);
    }
    check(one == -1 && last == 15);
  }
  return sum;
}
static __attribute__((noinline)) void hands_on(int rounds) {
  struct block b = {.first = 3, .last = 9};
  for (int i = 0; i < 40; ++i) b.many[i] = i;
  for (int i = 0; i < rounds; ++i) {
    long total = 0, own = i;
    struct block copy = b;
    copy.many[7] = i;
#pragma omp parallel firstprivate(copy, own) shared(total)
    {
      check(copy.first == 3 && copy.last == 9 && copy.many[39] == 39 && copy.many[7] == i);
      copy.many[7] = ++own;
#pragma omp single
      for (int k = 0; k < 4; ++k) {
#pragma omp task firstprivate(k) shared(total)
        __atomic_fetch_add(&total, k, __ATOMIC_RELAXED);
      }
#pragma omp parallel num_threads(2) firstprivate(own)
      check(own == i + 1);
    }
    check(total == 6);
  }
}
/* What the compiler keeps in its frame. */
static __attribute__((noinline)) double fills(const double* in, double* out, int n, double a, double b, double c,
                                              long d, long e, long f, long g, long h) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) {
    double t = in[i] * a + b;
    for (long k = 0; k < d; ++k) t += (double)(k * e % f) * c / (double)(g + h + i);
    out[i] = t;
    sum += t;
  }
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < n; ++i) {
    out[i] = out[i] / (double)(d + e) + a * (double)(f * g) - (double)h;
    check(out[i] == out[i] && n == 100 && in[0] == 0);
  }
  return sum;
}

int main(void) {
  reads(50);
  const long sum = writes(10);
  hands_on(10);
  double* const in = calloc(200, sizeof *in);
  for (int i = 0; i < 100; ++i) in[i] = i;
  const double filled = fills(in, in + 100, 100, 1.5, 2.5, 0.25, 10, 7, 5, 3, 2);
  for (int i = 0; i < 8; ++i) check(seen[i] == 0);
  printf("sum %ld, filled %.6f and %.6f, wrong %ld\n", sum, filled, in[150], wrong);
  free(in);
  return 0;
}
#else
int main(int argc, char** argv) {
  reads(argc > 1 ? atoi(argv[1]) : 50);
  for (int i = 0; i < 8; ++i) check(seen[i] == 0);
  return wrong != 0;
}
#endif
