/* SPDX-License-Identifier: BSD-3-Clause */
// A mapping that was used a little is reserved again in its place (mmap with MAP_FIXED and PROT_NONE), or unmapped but
// for a part: that costs no memory for what was never touched. What threads open there at once reads as zeroes, and
// keeps what they write.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { page = 4096, threads = 4, rounds = 6, parts = 16, rw = PROT_READ | PROT_WRITE };
enum { anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
static const size_t g_all = (size_t)512 << 20;
static char* g_at;
static int g_wrong[threads];
static pthread_barrier_t g_together;

static size_t resident_mib(void) {
  size_t all = 0, resident = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%zu %zu", &all, &resident) != 2) return 0;
  fclose(file);
  return resident * page >> 20;
}

static char* part_of(int i) { return g_at + g_all / parts * (size_t)i; }
static void use_parts(void) {
  for (int i = 0; i < parts; ++i) {
    for (int k = 0; k < threads; ++k) part_of(i)[k * page] = 7;
  }
}

/* All threads open the same pages; each has one of them. */
static void* work(void* argument) {
  const intptr_t me = (intptr_t)argument;
  for (int i = 0; i < parts; ++i) {
    char* const own = part_of(i) + me * page;
    pthread_barrier_wait(&g_together);
    if (mprotect(part_of(i), threads * page, rw) != 0) abort();
    for (int k = 0; k < page; ++k) g_wrong[me] += own[k] != 0;
    own[me] = (char)(i + 1);
    pthread_barrier_wait(&g_together);
    for (int k = 0; k < threads; ++k) g_wrong[me] += part_of(i)[k * page + k] != i + 1;
  }
  return NULL;
}

static int try(void) {
  pthread_t made[threads];
  if (mmap(g_at, g_all, PROT_NONE, anonymous | MAP_FIXED, -1, 0) != g_at) abort();
  int wrong = 0;
  for (intptr_t i = 0; i < threads; ++i) g_wrong[i] = 0, pthread_create(&made[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(made[i], NULL), wrong += g_wrong[i];
  return wrong;
}

int main(void) {
  pthread_barrier_init(&g_together, NULL, threads);
  g_at = mmap(NULL, g_all, rw, anonymous, -1, 0);
  if (g_at == MAP_FAILED) abort();
  use_parts();
  for (int round = 0; round < rounds; ++round) {
    printf("round %d: wrong %d\n", round, try());
  }
  munmap(g_at + page, g_all - page);
  printf("%d is there\n", g_at[0]);
  if (resident_mib() > 200) printf("resident: %zu MiB\n", resident_mib());
  return 0;
}
