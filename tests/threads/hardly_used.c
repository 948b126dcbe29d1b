/* SPDX-License-Identifier: BSD-3-Clause */
// A large mapping of which threads have written little is cleared, mapped again in its place, reserved and opened,
// unmapped and mapped: that touches what was written, and reads as zeroes everywhere.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { page = 4096, threads = 4, spots = 40, rw = PROT_READ | PROT_WRITE };
enum { anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
static const size_t g_all = (size_t)1 << 30, g_dense = 3u << 20;
static char* g_at;
static unsigned g_seed;

static size_t resident_mib(void) {
  size_t all = 0, resident = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%zu %zu", &all, &resident) != 2) return 0;
  fclose(file);
  return resident * page >> 20;
}

/* The same pages for all threads, who each write words of their own there. */
static char* spot(int i) {
  unsigned seed = g_seed + (unsigned)i * 2654435761u;
  return g_at + (size_t)(rand_r(&seed) % (int)(g_all / page)) * page;
}
static void* use(void* argument) {
  const intptr_t me = (intptr_t)argument;
  for (int i = 0; i < spots; ++i) spot(i)[me * 64] = (char)(me + 1);
  for (size_t k = (size_t)me * page; k < g_dense; k += threads * page) g_at[g_all / 2 + k] = 9;
  return NULL;
}
static void* look(void* argument) {
  const intptr_t me = (intptr_t)argument;
  intptr_t wrong = 0;
  for (int i = 0; i < spots; ++i) {
    for (int k = 0; k < page; ++k) wrong += spot(i)[k] != 0;
  }
  for (size_t k = (size_t)me * page; k < g_dense; k += page) wrong += g_at[g_all / 2 + k] != 0;
  return (void*)wrong;
}
static intptr_t all(void* (*work)(void*)) {
  pthread_t made[threads];
  intptr_t sum = 0;
  void* got = NULL;
  for (intptr_t i = 0; i < threads; ++i) pthread_create(&made[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(made[i], &got), sum += (intptr_t)got;
  return sum;
}
static int fixed(int protection) {
  return mmap(g_at, g_all, protection, anonymous | MAP_FIXED, -1, 0) == g_at ? 0 : -1;
}

static int empty(int how) {
  switch (how) {
    case 0:
      return madvise(g_at, g_all, MADV_DONTNEED);
    case 1:
      return fixed(rw);
    case 2:
      return fixed(PROT_NONE) != 0 ? -1 : mprotect(g_at, g_all, rw);
    case 3:
      return mprotect(g_at + g_all / 4, g_all / 2, PROT_NONE) != 0 ? -1 : fixed(rw);
    default:
      munmap(g_at, g_all);
      g_at = mmap(NULL, g_all, rw, anonymous, -1, 0);
      return g_at == MAP_FAILED ? -1 : 0;
  }
}

int main(void) {
  g_at = mmap(NULL, g_all, rw, anonymous, -1, 0);
  if (g_at == MAP_FAILED) abort();
  for (int round = 0; round < 10; ++round) {
    g_seed = (unsigned)round;
    all(use);
    if (empty(round % 5) != 0) abort();
    printf("round %d: wrong %ld\n", round, (long)all(look));
  }
  if (resident_mib() > 200) printf("resident: %zu MiB\n", resident_mib());
  return 0;
}
