/* SPDX-License-Identifier: BSD-3-Clause */
// Every construct that gcc makes calls for, once: what is printed does not depend on who did what. Each thread counts,
// so that an iteration that is lost or done twice is seen.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 10000
static int hits[N];
static long total;
static int sections_run[3], taken, named, depth = 3;
#pragma omp threadprivate(depth)

static void expect(const char* what, long found, long wanted) {
  if (found == wanted) return;
  printf("%s: %ld instead of %ld\n", what, found, wanted);
  exit(1);
}

static void each_once(const char* what) {
  for (int i = 0; i < N; ++i) expect(what, hits[i], 1);
  memset(hits, 0, sizeof hits);
}

static void loops(void) {
#pragma omp parallel for
  for (int i = 0; i < N; ++i) hits[i]++;
  each_once("static");
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < N; ++i) hits[i]++;
  each_once("static, 3");
#pragma omp parallel for schedule(dynamic, 7)
  for (int i = 0; i < N; ++i) hits[i]++;
  each_once("dynamic");
#pragma omp parallel for schedule(monotonic : dynamic, 7)
  for (int i = 0; i < N; ++i) hits[i]++;
  each_once("monotonic dynamic");
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < N; ++i) hits[i]++;
  each_once("guided");
#pragma omp parallel for schedule(runtime)
  for (int i = N - 1; i >= 0; --i) hits[i]++;
  each_once("runtime, downwards");
#pragma omp parallel for schedule(dynamic) collapse(2)
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j < 100; ++j) hits[100 * i + j]++;
  each_once("collapse");
#pragma omp parallel for schedule(dynamic, 3)
  for (unsigned long long i = 0; i < N; i += 2) {
    hits[i]++;
    hits[i + 1]++;
  }
  each_once("unsigned");
#pragma omp parallel for schedule(guided)
  for (unsigned long long i = N; i > 0; i -= 1) hits[i - 1]++;
  each_once("unsigned, downwards");
  for (int kind = 0; kind < 2; ++kind) {
    int next = 0, wrong = 0;
    if (kind == 0) {
#pragma omp parallel for ordered schedule(dynamic, 3)
      for (int i = 0; i < 200; ++i) {
#pragma omp ordered
        wrong += next++ != i;
      }
    } else {
#pragma omp parallel for ordered schedule(static, 2)
      for (int i = 0; i < 200; ++i) {
        if (i % 5 == 0) continue;  // no turn
#pragma omp ordered
        {
          wrong += i < next;
          next = i;
        }
      }
    }
    expect("ordered", wrong, 0);
  }
  // One thread is late in the first of many. Others may be in a later loop's ordered part meanwhile.
  int turns = 0;
#pragma omp parallel
  for (int round = 0; round < 200; ++round) {
    if (round == 0 && omp_get_thread_num() == 1) {
      const double until = omp_get_wtime() + 0.02;
      while (omp_get_wtime() < until) {
      }
    }
#pragma omp for ordered schedule(dynamic) nowait
    for (int i = 0; i < 4; ++i) {
#pragma omp ordered
      {
#pragma omp atomic
        turns++;
      }
    }
  }
  expect("ordered, nowait", turns, 800);
  // Threads are in different loops at a time.
#pragma omp parallel
  for (int round = 0; round < 100; ++round) {
#pragma omp for schedule(dynamic, 500) nowait
    for (int i = 0; i < N; ++i) {
#pragma omp atomic
      taken++;
    }
#pragma omp for schedule(guided, 50) nowait reduction(+ : total)
    for (int i = 0; i < N; ++i) total += i;
  }
  expect("nowait", taken, 100L * N);
  expect("reduction", total, 100L * N * (N - 1) / 2);
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 0; ++i) taken++;
  expect("nothing", taken, 100L * N);
}

static void sharing(void) {
  int threads = 0, copied = 0, owned = 0;
  double sum = 0, product = 1;
  long least = 1000;
#pragma omp parallel reduction(+ : sum) reduction(* : product) reduction(min : least)
  {
#pragma omp single
    threads = omp_get_num_threads();
    int mine = -1;
#pragma omp single copyprivate(mine)
    mine = 42;
#pragma omp atomic
    copied += mine == 42;
#pragma omp critical
    owned++;
#pragma omp critical(one)
    named++;
#pragma omp master
    hits[0] = 1;
#pragma omp barrier
    sum += hits[0];
    product *= 2;
    least = omp_get_thread_num() < least ? omp_get_thread_num() : least;
#pragma omp barrier
#pragma omp sections
    {
#pragma omp section
      sections_run[0]++;
#pragma omp section
      sections_run[1]++;
#pragma omp section
      sections_run[2]++;
    }
  }
  hits[0] = 0;
  expect("copyprivate", copied, threads);
  expect("critical", owned, threads);
  expect("named critical", named, threads);
  expect("sum", (long)sum, threads);
  expect("product", (long)product, 1L << threads);
  expect("min", least, 0);
  for (int i = 0; i < 3; ++i) expect("section", sections_run[i], 1);
#pragma omp parallel sections
  {
#pragma omp section
    sections_run[0]++;
#pragma omp section
    sections_run[1]++;
  }
  expect("parallel sections", sections_run[0] + sections_run[1], 4);
  int first = 5, last = 0;
#pragma omp parallel for firstprivate(first) lastprivate(last)
  for (int i = 0; i < N; ++i) last = first + i;
  expect("lastprivate", last, 5 + N - 1);
#pragma omp parallel copyin(depth)
  {
    depth += omp_get_thread_num();
#pragma omp barrier
#pragma omp atomic
    total += depth - omp_get_thread_num() == 3;
  }
}

static void locks(void) {
  omp_lock_t one;
  omp_nest_lock_t nested;
  long count = 0;
  int threads = 0;
  omp_init_lock(&one);
  omp_init_nest_lock(&nested);
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
    for (int i = 0; i < 50; ++i) {
      omp_set_lock(&one);
      count++;
      omp_unset_lock(&one);
      omp_set_nest_lock(&nested);
      omp_set_nest_lock(&nested);
      hits[1]++;
      omp_unset_nest_lock(&nested);
      omp_unset_nest_lock(&nested);
    }
    while (!omp_test_lock(&one)) {
    }
    count++;
    omp_unset_lock(&one);
  }
  expect("lock", count, 51L * threads);
  expect("nested lock", hits[1], 50L * threads);
  hits[1] = 0;
  omp_destroy_lock(&one);
  omp_destroy_nest_lock(&nested);
}

static long fibonacci(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

static void tasks(void) {
  long result = 0;
  int order[3] = {0};
#pragma omp parallel
#pragma omp single
  {
    result = fibonacci(12);
#pragma omp task depend(out : order[0])
    order[0] = 1;
#pragma omp task depend(in : order[0]) depend(out : order[1])
    order[1] = order[0] + 1;
#pragma omp taskwait
#pragma omp taskloop grainsize(7)
    for (int i = 0; i < N; ++i) hits[i]++;
#pragma omp taskgroup
    {
#pragma omp task
      order[2] = 7;
    }
  }
  expect("tasks", result, 144);
  expect("dependences", order[1], 2);
  expect("taskgroup", order[2], 7);
  each_once("taskloop");
}

static void numbers(void) {
  int seen[64] = {0}, bad = 0;
#pragma omp parallel num_threads(3)
  {
    seen[omp_get_thread_num()]++;
#pragma omp atomic
    bad += omp_get_num_threads() != 3 || !omp_in_parallel() || omp_get_level() != 1;
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      bad += omp_get_level() != 2 || omp_get_ancestor_thread_num(0) != 0;
    }
  }
  for (int i = 0; i < 3; ++i) expect("number of a thread", seen[i], 1);
  expect("queries", bad, 0);
  expect("outside", omp_in_parallel() + omp_get_thread_num() + omp_get_level(), 0);
  // Memory of one thread is another's, too.
  long* pointers[8] = {0};
#pragma omp parallel num_threads(4)
  {
    long* const own = malloc(sizeof *own);
    *own = 10 + omp_get_thread_num();
    pointers[omp_get_thread_num()] = own;
#pragma omp barrier
    const int next = (omp_get_thread_num() + 1) % omp_get_num_threads();
#pragma omp atomic
    bad += *pointers[next] != 10 + next;
#pragma omp barrier
    free(pointers[next]);
  }
  expect("pointers", bad, 0);
}

int main(int argc, char** argv) {
  loops();
  sharing();
  locks();
  tasks();
  numbers();
  for (int i = 0; i < 3; ++i) {  // regions of which some stay on one node
#pragma omp parallel num_threads(1 + i)
    {
#pragma omp critical
      total++;
    }
  }
  total = 0;
#pragma omp parallel num_threads(60)
  {
#pragma omp atomic
    total++;
  }
  expect("many threads, of which some are on their way out when the program ends", total, 60);
  printf("%d arguments, the last is %s; %d threads\n", argc - 1, argv[argc - 1], omp_get_max_threads());
  return argc > 2 ? atoi(argv[2]) : 0;
}
