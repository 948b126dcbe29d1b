/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of all sizes up to some pages: each is made by one thread, checked and resized by another, and given back by a
 * third. With QUIRE_HEAP_VIEWS small ones are sharing units of their own, and lie in another heap than large ones; here
 * many go from the one to the other. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 3000, most = 3000 };

static unsigned char* blocks[count];
static unsigned long counters[64];

static size_t bytes_of(int i) { return 8 + (size_t)i * 7919 % most; }

int main(void) {
  long bad = 0, sum = 0;
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < count; ++i) {
    blocks[i] = i % 3 == 0 ? calloc(1, bytes_of(i)) : malloc(bytes_of(i));
    memset(blocks[i], i, bytes_of(i));
  }
#pragma omp parallel for schedule(static, 3) reduction(+ : bad, sum)
  for (int i = 0; i < count; ++i) {
    for (size_t k = 0; k < bytes_of(i); ++k) bad += blocks[i][k] != (unsigned char)i;
    const size_t now = 16 + (most - bytes_of(i) % most), kept = now < bytes_of(i) ? now : bytes_of(i);
    blocks[i] = realloc(blocks[i], now);
    for (size_t k = 0; k < kept; ++k) bad += blocks[i][k] != (unsigned char)i;
    sum += blocks[i][0];
  }
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < count; ++i) free(blocks[i]);
  /* Counters of their own, side by side in one page without views. */
  unsigned long* own[64] = {0};
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    own[me] = calloc(1, sizeof *own[me]);
    for (int i = 0; i < 10000; ++i) ++*(volatile unsigned long*)own[me];
  }
  for (int t = 0; t < 64; ++t) {
    if (own[t] != NULL) counters[t] = *own[t];
    free(own[t]);
  }
  printf("%ld bad, sum %ld, counters %lu %lu\n", bad, sum, counters[0], counters[3]);
  return bad != 0;
}
