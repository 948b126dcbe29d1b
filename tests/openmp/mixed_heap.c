/* SPDX-License-Identifier: BSD-3-Clause */
/* Large blocks of the heap that all threads write side by side, handed on by barriers, by a critical section, and by
 * flags and counters in small ones. Blocks that grow and shrink beyond the size that makes them large; blocks that are
 * given back and used again, by other threads. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 4, size = 40000, rounds = 12 };

static double *large, *other;
static int* turn;

static void hand_round(void) {
  *turn = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < rounds; ++round) {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    int now;
    do {
#pragma omp atomic read acquire
      now = *turn;
    } while (now != round * all + me);
    for (int i = 0; i < size; i += 997) large[i] += me + 1;
#pragma omp atomic write release
    *turn = now + 1;
  }
}

static long count(void) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < rounds; ++round) {
#pragma omp critical
    for (int i = 0; i < size; i += 499) other[i] += 1;
#pragma omp atomic
    sum += round;
  }
  return sum;
}

/* Grows from a few bytes to a large block and back; each size holds what was there. */
static long resize(void) {
  long bad = 0;
  static const size_t sizes[] = {100, 60000, 70000, 600000, 65536, 65535, 300000, 1000, 2000000, 10};
  unsigned char* at = NULL;
  size_t had = 0;
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    at = realloc(at, sizes[i]);
    for (size_t k = 0; k < had && k < sizes[i]; ++k) bad += at[k] != (unsigned char)(k * 7);
    had = sizes[i];
    /* The other nodes write the second half. */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t k = 0; k < had; ++k) at[k] = (unsigned char)(k * 7);
  }
  free(at);
  return bad;
}

/* Each round a thread allocates what all write, and another one frees it: the same addresses, with other content. */
static long again(void) {
  static long* block;
  static long bad;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < rounds; ++round) {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    if (me == round % all) block = round % 3 == 0 ? calloc(20000, sizeof(long)) : malloc(20000 * sizeof(long));
#pragma omp barrier
    if (round % 3 == 0) {
      long wrong = 0;
      for (int i = me; i < 20000; i += all) wrong += block[i] != 0;
#pragma omp atomic
      bad += wrong;
    }
#pragma omp barrier
    for (int i = me; i < 20000; i += all) block[i] = i * 3L + round;
#pragma omp barrier
    long wrong = 0;
    for (int i = 0; i < 20000; i += 77) wrong += block[i] != i * 3L + round;
#pragma omp atomic
    bad += wrong;
#pragma omp barrier
    if (me == (round + 1) % all) free(block);
#pragma omp barrier
  }
  return bad;
}

static int aligned(void) {
  int bad = 0;
  for (size_t to = 16; to <= 1u << 20; to *= 4) {
    void* a = aligned_alloc(to, 1u << 20);
    void* b = NULL;
    bad += posix_memalign(&b, to, 100000) != 0 || (uintptr_t)a % to != 0 || (uintptr_t)b % to != 0;
    memset(a, 1, 1u << 20);
    memset(b, 2, 100000);
    free(a);
    free(b);
  }
  return bad;
}

/* More than the heap of large blocks has where there are few addresses: other memory serves as well. */
static long fill(void) {
  enum { blocks = 300, bytes = 1 << 20 };
  static char* all[blocks];
  long sum = 0;
  for (int i = 0; i < blocks; ++i) all[i] = malloc(bytes);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < blocks; ++i) all[i][0] = all[i][bytes - 1] = (char)(i % 50);
  for (int i = 0; i < blocks; ++i) {
    all[i] = realloc(all[i], bytes + 100000);
    sum += all[i][0] + all[i][bytes - 1];
  }
  for (int i = 0; i < blocks; ++i) free(all[i]);
  return sum;
}

int main(void) {
  large = malloc(size * sizeof *large);
  other = calloc(size, sizeof *other);
  turn = malloc(sizeof *turn);
  double zero = 0;
#pragma omp parallel for schedule(static) reduction(+ : zero)
  for (int i = 0; i < size; ++i) zero += other[i];
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < size; ++i) large[i] = i;
#pragma omp parallel for schedule(dynamic, 1000)
  for (int i = 0; i < size; ++i) other[i] = large[size - 1 - i];
  hand_round();
  const long sum = count();
  double a = 0, b = 0;
  for (int i = 0; i < size; ++i) a += large[i], b += other[i] * (i % 7);
  printf("%.0f %.0f %.0f %d %ld\n", zero, a, b, *turn, sum);
  printf("%ld %ld %d %ld\n", resize(), again(), aligned(), fill());
  free(large);
  free(other);
  free(turn);
  return 0;
}
