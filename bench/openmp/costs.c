/* SPDX-License-Identifier: BSD-3-Clause */
/* What OpenMP's constructs cost, in microseconds; a line of JSON for each, as bench/common/samples.hpp has it. It knows
 * nothing of Quire: the stock runtime runs it, and `quire run`. An argument: how often. Without work (0) it only starts
 * and ends. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 20000 };
static double took[most];
static long counter;

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static void print(const char* name, int count) {
  double sum = 0;
  qsort(took, (size_t)count, sizeof *took, by_value);
  for (int i = 0; i < count; ++i) sum += took[i];
  printf("{\"name\":\"%s\",\"unit\":\"us\",\"count\":%d,\"median\":%.3f,\"mean\":%.3f,\"min\":%.3f,\"p90\":%.3f}\n",
         name, count, took[count / 2], sum / count, took[0], took[count * 9 / 10]);
}

static double sum;

static void region(void) {
#pragma omp parallel
  __asm__ volatile(""); /* else the compiler leaves it out */
}
static void region_with_values(void) {
  static long used;
  long a = counter, b = a + 1, c = a - 1;
#pragma omp parallel firstprivate(a, b, c)
  if (a + b < c) used = a;
}
static void region_with_sum(void) {
#pragma omp parallel reduction(+ : sum)
  sum += 1;
}
static void region_with_local_sum(void) {
  double own = 0;
#pragma omp parallel reduction(+ : own)
  own += 1;
  sum += own;
}
static void hundred_tasks(void) {
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < 100; ++k) {
#pragma omp task
    ;
  }
}

/* What threads do within a region. */
static void barrier(void) {
#pragma omp barrier
}
static void single(void) {
#pragma omp single
  ++counter;
}
static void critical(void) {
#pragma omp critical
  ++counter;
}
static void atomic(void) {
#pragma omp atomic
  ++counter;
}
/* A lock and what it guards; many locks of one page; words of a table: threads of all nodes at random, without pause.
 */
static omp_lock_t one_lock, small_locks[256];
static int table[1 << 14];
static unsigned draw(void) {
  static _Thread_local unsigned seed;
  seed = seed * 1103515245u + 12345u + (unsigned)omp_get_thread_num();
  return seed >> 16;
}
static void lock(void) {
  omp_set_lock(&one_lock);
  ++counter;
  omp_unset_lock(&one_lock);
}
static void small_lock(void) {
  omp_lock_t* const l = &small_locks[draw() % 256];
  omp_set_lock(l);
  omp_unset_lock(l);
}
static void atomic_of_table(void) {
  int* const at = &table[draw() % (1 << 14)];
#pragma omp atomic
  ++*at;
}
static void fifty_iterations(void) {
#pragma omp for schedule(dynamic)
  for (int k = 0; k < 50; ++k) {
    volatile int own = k;
    (void)own;
  }
}

/* Of regions the master tells. */
static void measure(const char* name, int count, void (*what)(void)) {
  const int warm = 20;
  for (int i = -warm; i < count; ++i) {
    const double start = omp_get_wtime();
    what();
    if (i >= 0) took[i] = (omp_get_wtime() - start) * 1e6;
  }
  print(name, count);
}

/* `inner` times within one region, between barriers. */
static void measure_within(const char* name, int count, int inner, void (*what)(void)) {
#pragma omp parallel
  for (int i = -2; i < count; ++i) {
#pragma omp barrier
    const double start = omp_get_wtime();
    for (int k = 0; k < inner; ++k) what();
    if (omp_get_thread_num() == 0 && i >= 0) took[i] = (omp_get_wtime() - start) * 1e6 / inner;
  }
  print(name, count);
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 2000, few = count / 20 + 1;
  if (count <= 0 || count > most) return 0;
  measure("region", count, region);
  measure("region_with_values", count, region_with_values);
  measure("region_with_sum", count, region_with_sum);
  measure("region_with_local_sum", count, region_with_local_sum);
  measure_within("barrier", few, 50, barrier);
  measure_within("single", few, 50, single);
  measure_within("critical", few, 50, critical);
  measure_within("atomic", few, 50, atomic);
  omp_init_lock(&one_lock);
  for (int i = 0; i < 256; ++i) omp_init_lock(&small_locks[i]);
  measure_within("lock", few, 500, lock);
  measure_within("small_lock", few, 500, small_lock);
  measure_within("atomic_of_table", few, 500, atomic_of_table);
  measure_within("fifty_iterations", few, 1, fifty_iterations);
  measure("hundred_tasks", few, hundred_tasks);
  return counter < 0 || sum < 0;
}
