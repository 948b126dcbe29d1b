/* SPDX-License-Identifier: BSD-3-Clause */
// What depends on how a compiler divides the work with its runtime: regions that share few and many variables, bounds
// at the ends of their types, `lastprivate` under each schedule, reductions of several variables, conditions.
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void expect(const char* what, long long found, long long wanted) {
  if (found == wanted) return;
  printf("%s: %lld instead of %lld\n", what, found, wanted);
  exit(1);
}

static void shared_variables(void) {
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, threads = omp_get_max_threads();
  double x = 0.5, y = 0.25;
  long none = 0, one = 0, four = 0, five = 0, six = 0, many = 0;
  static long counted;
#pragma omp parallel
#pragma omp atomic
  counted++;
  expect("no variables", counted, threads);
#pragma omp parallel
#pragma omp atomic
  one++;
  expect("one variable", one, threads);
#pragma omp parallel
#pragma omp atomic
  four += a + b + c;
  expect("four variables", four, 6L * threads);
#pragma omp parallel
#pragma omp atomic
  five += a + b + c + d;
  expect("five variables", five, 10L * threads);
#pragma omp parallel
#pragma omp atomic
  six += a + b + c + d + e;
  expect("six variables", six, 15L * threads);
#pragma omp parallel firstprivate(a, x) shared(y)
  {
    a += omp_get_thread_num();
#pragma omp atomic
    many += a - omp_get_thread_num() + b + c + d + e + f + g + h + i + j + k + (x + y == 0.75);
  }
  expect("many variables", many, 67L * threads);
  none += a;
  expect("firstprivate", none, 1);
}

#define PRAGMA(words) _Pragma(#words)
#define LAST(words, type, from, condition, step, count, value)            \
  {                                                                       \
    type last = 0;                                                        \
    long long times = 0;                                                  \
    PRAGMA(omp parallel for lastprivate(last) reduction(+ : times) words) \
    for (type i = from; condition; step) {                                \
      last = i;                                                           \
      times++;                                                            \
    }                                                                     \
    expect(#words " times", times, count);                                \
    expect(#words " last", (long long)last, (long long)(value));          \
  }
// libomp 14 loses the last iteration now and then, where threads steal iterations from each other: not if each thread's
// rise.
#define LASTS(type, from, condition, step, count, value)                            \
  LAST(schedule(static), type, from, condition, step, count, value)                 \
  LAST(schedule(static, 1), type, from, condition, step, count, value)              \
  LAST(schedule(static, 7), type, from, condition, step, count, value)              \
  LAST(schedule(monotonic : dynamic), type, from, condition, step, count, value)    \
  LAST(schedule(monotonic : dynamic, 5), type, from, condition, step, count, value) \
  LAST(schedule(guided), type, from, condition, step, count, value)                 \
  LAST(schedule(runtime), type, from, condition, step, count, value)                \
  LAST(schedule(auto), type, from, condition, step, count, value)                   \
  LAST(ordered schedule(static), type, from, condition, step, count, value)

static void bounds(void) {
  LASTS(int, 0, i < 100, ++i, 100, 99)
  LASTS(int, 100, i > 0, i -= 3, 34, 1)
  LASTS(int, INT_MAX - 3, i < INT_MAX, ++i, 3, INT_MAX - 1)
  LASTS(int, INT_MIN + 2, i > INT_MIN, --i, 2, INT_MIN + 1)
  LASTS(int, -50, i <= 50, i += 10, 11, 50)
  LASTS(unsigned, 3000000000u, i < 3000000090u, ++i, 90, 3000000089u)
  LASTS(unsigned, UINT_MAX - 2, i < UINT_MAX, ++i, 2, UINT_MAX - 1)
  LASTS(long long, LLONG_MAX - 42, i < LLONG_MAX, i += 3, 14, LLONG_MAX - 3)
  LASTS(unsigned long long, ULLONG_MAX - 10, i < ULLONG_MAX, ++i, 10, ULLONG_MAX - 1)
  LASTS(signed char, -5, i < 6, ++i, 11, 5)
  LASTS(int, 0, i < 1, ++i, 1, 0)
}

static void reductions(void) {
  long sum = 1, both = -1, either = 0;
  double product = 2, least = 1e9, most = -1e9;
  int all = 1, any = 0, threads = omp_get_max_threads();
  long array[5] = {0, 1, 2, 3, 4};
#pragma omp parallel reduction(+ : sum) reduction(* : product) reduction(& : both) reduction(| : either) \
    reduction(&& : all) reduction(|| : any) reduction(min : least) reduction(max : most) reduction(+ : array)
  {
    const int me = omp_get_thread_num();
    sum += me + 1;
    product *= 2;
    both &= ~(1L << me);
    either |= 1L << me;
    all = all && me >= 0;
    any = any || me == omp_get_num_threads() - 1;
    least = me + 1 < least ? me + 1 : least;
    most = me > most ? me : most;
    for (int i = 0; i < 5; ++i) array[i] += me;
  }
  const long numbers = (long)threads * (threads - 1) / 2;
  expect("+", sum, 1 + numbers + threads);
  expect("*", (long)product, 2L << threads);
  expect("&", both, ~((1L << threads) - 1));
  expect("|", either, (1L << threads) - 1);
  expect("&&", all, 1);
  expect("||", any, 1);
  expect("min", (long)least, 1);
  expect("max", (long)most, threads - 1);
  for (int i = 0; i < 5; ++i) expect("array", array[i], i + numbers);
  sum = 0;
  long rounds = 0;
#pragma omp parallel reduction(+ : rounds)
  for (int round = 0; round < 20; ++round) {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    rounds += sum == 4950L * (round + 1);  // nobody goes on before the sum is there
#pragma omp barrier
  }
  expect("sum within a region", sum, 20 * 4950L);
  expect("sums in time", rounds, 20L * threads);
}

static void conditions(int threads) {
  int seen = 0, inside = 0, deep = 0;
#pragma omp parallel if (threads > 1000) num_threads(3)
  {
    seen += omp_get_num_threads();
    inside += omp_in_parallel();
    deep += omp_get_level();
#pragma omp parallel for reduction(+ : seen)
    for (int i = 0; i < 10; ++i) seen++;
  }
  expect("a region of one thread", seen, 1 + 10);
  expect("is not parallel", inside, 0);
  expect("level", deep, 1);
  expect("level outside", omp_get_level(), 0);
  seen = 0;
#pragma omp parallel if (threads > 0)
#pragma omp atomic
  seen++;
  expect("a condition that holds", seen, threads);
  seen = 0;
#pragma omp parallel num_threads(threads > 2 ? 2 : 1)
#pragma omp single
  seen = omp_get_num_threads();
  expect("num_threads", seen, threads > 2 ? 2 : 1);
#pragma omp parallel
#pragma omp master
  seen = omp_get_num_threads();
  expect("the number asked for holds once", seen, threads);
}

int main(void) {
  shared_variables();
  bounds();
  reductions();
  conditions(omp_get_max_threads());
  puts("all as it should be");
  return 0;
}
