/* SPDX-License-Identifier: BSD-3-Clause */
// Private memory at addresses that the program chooses, more of it than Quire keeps in mind for its lines: what costs
// is the system's call alone, from then on.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { page = 4096, many = 600, batches = 20, calls = 50 };
static char* g_next = (char*)0x500000000000;

static void map_at(char* at) {
  if (mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at) abort();
}
static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}
/// The quickest batch of several, of mappings so far from each other.
static double quickest(size_t step) {
  double best = 1e9;
  for (int i = 0; i < batches; ++i) {
    const double begin = now_us();
    for (int k = 0; k < calls; ++k, g_next += step) map_at(g_next);
    const double took = now_us() - begin;
    if (took < best) best = took;
  }
  return best;
}

static void* end_at_once(void* unused) { return unused; }

int main(void) {
  pthread_t thread;  // so that there are nodes that share memory
  pthread_create(&thread, NULL, end_at_once, NULL);
  pthread_join(thread, NULL);
  map_at(g_next);
  const double known = quickest(0);
  for (int i = 0; i < many; ++i, g_next += 3 * page) map_at(g_next);
  const double others = quickest(3 * page);
  if (others > 5 * known + 20) {
    printf("a mapping costs %.1f us, one that is known %.1f\n", others / calls, known / calls);
  }
  printf("done\n");
  return 0;
}
