/* SPDX-License-Identifier: BSD-3-Clause */
// The program maps where it has given a block back to malloc(3) (MAP_FIXED), and unmaps that: the memory is not lost.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { page = 4096, threads = 3, rounds = 30, few = 40, rw = PROT_READ | PROT_WRITE };
enum { fixed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED };
static const size_t g_bytes = (size_t)4 << 20;
static int g_wrong, g_different;
static char* g_seen[rounds * threads];

static void note(char* at) {
  for (int i = 0; i < g_different; ++i) {
    if (g_seen[i] == at) return;
  }
  g_seen[g_different++] = at;
}

static char* page_in(char* block) { return (char*)(((uintptr_t)block + page - 1) / page * page); }

static void* work(void* unused) {
  for (int i = 0; i < rounds; ++i) {
    char* const block = malloc(g_bytes + page);
    if (block == NULL) return puts("no memory"), unused;
    char* const at = page_in(block);
    note(at);
    at[page] = 3;
    free(block);
    if (mmap(at, g_bytes, i % 2 == 0 ? rw : PROT_NONE, fixed, -1, 0) != at) return puts("not mapped"), unused;
    if (i % 2 != 0) g_wrong += mprotect(at, g_bytes / 2, rw) != 0;
    g_wrong += at[page] != 0 || at[g_bytes / 4] != 0;
    at[page] = at[2 * page] = 5;
    g_wrong += munmap(at, g_bytes / 2) != 0 || munmap(at + g_bytes / 2, g_bytes / 2) != 0;
  }
  return unused;
}

int main(void) {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // blocks are mappings all the time
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
  }
  printf("wrong %d, addresses: %s\n", g_wrong, g_different <= few ? "few" : "many");
  return 0;
}
