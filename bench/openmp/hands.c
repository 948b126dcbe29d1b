/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of stock OpenMP programs whose data changes hands, in milliseconds a step; a line of JSON for each, as
 * bench/common/samples.hpp has it. It knows nothing of Quire: the stock runtime runs it, and `quire run`.
 *
 *   directions  a field of N x N x N x 5: threads own planes in two sweeps, and rows of all planes in the third (ADI)
 *   wavefront   N planes of N x N: a thread's part of a plane follows the part before it, by flags and flushes (LU)
 *   produced    one thread writes a block, the others read it, in turn
 *   columns     a matrix is transposed: each thread reads columns of what all have written (FT)
 *   counted     threads write strips of vectors in turn, and count in a table, by atomic additions at random
 *
 * Arguments: N (40), steps (20), the name of one of them (all). stderr gets the sum that proves what was computed.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n = 40, steps = 20;
static double *field, *other;
static int* table; /* a power of two of words */
static const unsigned table_words = 1 << 16;
static volatile int flags[64 * 16]; /* a cache line each */
static double took[4096];

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static void print(const char* name) {
  double sum = 0;
  for (int i = 0; i < steps; ++i) sum += took[i];
  qsort(took, (size_t)steps, sizeof *took, by_value);
  printf("{\"name\":\"%s\",\"unit\":\"ms\",\"count\":%d,\"median\":%.4f,\"mean\":%.4f,\"min\":%.4f,\"p90\":%.4f}\n",
         name, steps, took[steps / 2], sum / steps, took[0], took[steps * 9 / 10]);
}

static double* at(int k, int j, int i) { return field + (((size_t)k * n + j) * n + i) * 5; }

static const double jacobian[5][5] = {{0.30, 0.01, 0.02, 0.01, 0.02},
                                      {0.02, 0.29, 0.01, 0.03, 0.01},
                                      {0.01, 0.02, 0.31, 0.02, 0.01},
                                      {0.03, 0.01, 0.01, 0.28, 0.02},
                                      {0.01, 0.03, 0.02, 0.01, 0.30}};

/* Along one direction: each cell from the one before it, by a block of 5 x 5, a few times (as BT and LU do it). */
static void relax(double* cell, const double* before) {
  double next[5], from[5];
  for (int v = 0; v < 5; ++v) from[v] = before[v];
  for (int times = 0; times < 3; ++times) {
    for (int v = 0; v < 5; ++v) {
      next[v] = 0.6 * cell[v] + 0.001 * v;
      for (int w = 0; w < 5; ++w) next[v] += jacobian[v][w] * from[w];
    }
    for (int v = 0; v < 5; ++v) from[v] = next[v];
  }
  for (int v = 0; v < 5; ++v) cell[v] = next[v];
}

static void directions(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 1; i < n; ++i) relax(at(k, j, i), at(k, j, i - 1));
#pragma omp for
    for (int k = 0; k < n; ++k)
      for (int j = 1; j < n; ++j)
        for (int i = 0; i < n; ++i) relax(at(k, j, i), at(k, j - 1, i));
#pragma omp for
    for (int j = 0; j < n; ++j)
      for (int k = 1; k < n; ++k)
        for (int i = 0; i < n; ++i) relax(at(k, j, i), at(k - 1, j, i));
  }
}

static void wavefront(void) {
#pragma omp parallel
  {
    const int self = omp_get_thread_num(), all = omp_get_num_threads();
    const int first = n * self / all, end = n * (self + 1) / all;
    flags[self * 16] = 0;
#pragma omp barrier
    for (int k = 1; k < n; ++k) {
      while (self != 0 && flags[(self - 1) * 16] < k) {
#pragma omp flush
      }
#pragma omp flush
      for (int j = first > 0 ? first : 1; j < end; ++j)
        for (int i = 1; i < n; ++i) {
          relax(at(k, j, i), at(k, j, i - 1));
          relax(at(k, j, i), at(k, j - 1, i));
          relax(at(k, j, i), at(k - 1, j, i));
        }
#pragma omp flush
      flags[self * 16] = k;
#pragma omp flush
    }
  }
}

static void produced(void) {
  const size_t words = (size_t)n * n * n;
#pragma omp parallel
  {
    const int self = omp_get_thread_num(), all = omp_get_num_threads();
    for (int turn = 0; turn < all; ++turn) {
      if (self == turn)
        for (size_t w = 0; w < words; ++w) other[w] = 0.5 * other[w] + turn;
#pragma omp barrier
      double sum = 0;
      for (size_t w = 0; w < words; ++w) sum += other[w];
#pragma omp critical
      field[0] += sum * 1e-9;
#pragma omp barrier
    }
  }
}

static void columns(void) {
  const int side = n * 8;
#pragma omp parallel
  {
#pragma omp for
    for (int r = 0; r < side; ++r)
      for (int c = 0; c < side; ++c) field[(size_t)r * side + c] += 0.125 * other[(size_t)r * side + c];
#pragma omp for
    for (int c = 0; c < side; ++c)
      for (int r = 0; r < side; ++r) other[(size_t)c * side + r] = 0.5 * field[(size_t)r * side + c];
  }
}

static void counted(void) {
  const int words = n * n * n * 5, counts = n / 2;
#pragma omp parallel
  {
    unsigned seed = (unsigned)omp_get_thread_num();
    for (int k = 0; k < counts; ++k) {
      seed = seed * 1103515245u + 12345u;
#pragma omp atomic
      ++table[(seed >> 8) & (table_words - 1)];
    }
#pragma omp for schedule(static, 64)
    for (int w = 1; w < words; ++w) field[w] = 0.5 * (field[w] + other[w - 1]);
#pragma omp for schedule(static, 64)
    for (int w = 1; w < words; ++w) other[w] = field[w];
  }
}

static const char* only = "all";

static void measure(const char* name, void (*work)(void)) {
  if (strcmp(only, "all") != 0 && strcmp(only, name) != 0) return;
  work();
  for (int i = 0; i < steps; ++i) {
    const double start = omp_get_wtime();
    work();
    took[i] = (omp_get_wtime() - start) * 1e3;
  }
  print(name);
}

int main(int argc, char** argv) {
  if (argc > 1) n = atoi(argv[1]);
  if (argc > 2) steps = atoi(argv[2]);
  if (argc > 3) only = argv[3];
  if (n < 8 || n > 400 || steps < 1 || steps > 4096 || omp_get_max_threads() > 64) {
    fprintf(stderr, "usage: openmp_hands [N (8 to 400)] [steps (1 to 4096)] [name], on at most 64 threads\n");
    return 2;
  }
  const size_t words = (size_t)n * n * n * 5;
  field = malloc(words * sizeof *field);
  other = malloc(words * sizeof *other);
  table = calloc(table_words, sizeof *table);
  if (field == NULL || other == NULL || table == NULL) return 1;
#pragma omp parallel for
  for (size_t w = 0; w < words; ++w) field[w] = other[w] = (double)(w % 17);
  measure("directions", directions);
  measure("wavefront", wavefront);
  measure("produced", produced);
  measure("columns", columns);
  measure("counted", counted); /* the last one: in mixed memory its table becomes sequential */
  double sum = 0;
  for (size_t w = 0; w < words; ++w) sum += field[w] + other[w];
  for (unsigned w = 0; w < table_words; ++w) sum += table[w];
  fprintf(stderr, "%.10e\n", sum);  // stdout is JSON lines, as every benchmark has it
  free(field);
  free(other);
  free(table);
}
