/* SPDX-License-Identifier: BSD-3-Clause */
// Addresses that are reserved, used a little, given back and reserved again, as allocators and runtimes do: what the
// program reads there is zero, and what it does not touch costs no memory.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { page = 4096, threads = 2, rounds = 12, parts = 16, rw = PROT_READ | PROT_WRITE };
static const size_t g_reserved = (size_t)1 << 30;
static int g_wrong[threads];

static size_t resident_mib(void) {
  size_t all = 0, resident = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%zu %zu", &all, &resident) != 2) return 0;
  fclose(file);
  return resident * page >> 20;
}

/// A part here and there, from another place each round; a byte in each page is not zero then.
static int use_parts(char* at, size_t all, int round, int flags) {
  int wrong = 0;
  for (int i = 0; i < parts; ++i) {
    const size_t bytes = 16 * page;
    char* const part = at + (all / parts * (size_t)i + (size_t)round * 7 * page) / page * page;
    if (flags == 0 && mprotect(part, bytes, rw) != 0) abort();
    if (flags != 0 && mmap(part, bytes, rw, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0) != part) abort();
    for (size_t k = 0; k < bytes; ++k) wrong += part[k] != 0;
    for (size_t k = 0; k < bytes; k += page) part[k + (size_t)i] = 1;
  }
  return wrong;
}

static void* work(void* argument) {
  const intptr_t me = (intptr_t)argument;
  void* kept[rounds];
  for (int round = 0; round < rounds; ++round) {
    // Of several sizes; a block of malloc's may lie where the last one began.
    const size_t all = g_reserved - (size_t)(round % 3) * 100 * page;
    char* const at = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return ++g_wrong[me], NULL;
    g_wrong[me] += use_parts(at, all, round, round % 2 == 0 ? 0 : MAP_FIXED);
    if (round % 4 == 3) {  // in two parts
      munmap(at, all / page / 2 * page);
      munmap(at + all / page / 2 * page, all - all / page / 2 * page);
    } else {
      munmap(at, all);
    }
    kept[round] = malloc(200000);
    memset(kept[round], 3, 200000);
  }
  for (int round = 0; round < rounds; ++round) free(kept[round]);
  if (resident_mib() > 300) printf("resident: %zu MiB\n", resident_mib());
  return NULL;
}

/// Few systems have huge pages to give.
static int map_huge(void) {
  char* const huge = mmap(NULL, g_reserved, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (huge == MAP_FAILED) return 0;
  const int wrong = (uintptr_t)huge % (1 << 21) != 0 || huge[g_reserved / 2] != 0;
  if (resident_mib() > 300) printf("resident with huge pages: %zu MiB\n", resident_mib());
  return wrong;
}

int main(void) {
  pthread_t all[threads];
  int wrong = 0;
  for (intptr_t i = 0; i < threads; ++i) {
    pthread_create(&all[i], NULL, work, (void*)i);
    pthread_join(all[i], NULL);
    wrong += g_wrong[i];
  }
  wrong += map_huge();
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
