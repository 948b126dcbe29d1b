/* SPDX-License-Identifier: BSD-3-Clause */
// Where the program has unmapped, it maps again at the same address (MAP_FIXED), and nobody else has that memory; what
// it has unmapped in other parts than it has mapped is not lost. Threads of all nodes.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { page = 4096, bytes = 1 << 20, blocks = 64, threads = 4, rounds = 32, rw = PROT_READ | PROT_WRITE };
enum { anonymous = MAP_PRIVATE | MAP_ANONYMOUS, large = 1 << 22 };
static char* g_at;
static char* g_blocks[threads][blocks];
static int g_wrong[threads];

static int is_full_of(const char* at, size_t count, char what) {
  for (size_t i = 0; i < count; ++i) {
    if (at[i] != what) return 0;
  }
  return 1;
}
static void run(void* (*body)(void*)) {
  pthread_t all[threads];
  for (intptr_t i = 0; i < threads; ++i) {
    pthread_create(&all[i], NULL, body, (void*)i);
    pthread_join(all[i], NULL);
  }
}
static char* map_at(char* at, size_t count, int protection, int flags) {
  return mmap(at, count, protection, anonymous | flags, -1, 0);
}

/// What malloc() and mmap() give afterwards lies elsewhere.
static void* map_and_take(void* argument) {
  const intptr_t me = (intptr_t)argument;
  char* const at = map_at(NULL, bytes, rw, 0);
  memset(at, 5, bytes);
  munmap(at, bytes);
  if (map_at(at, bytes, rw, MAP_FIXED) != at || !is_full_of(at, bytes, 0)) ++g_wrong[me];
  memset(at, 1, bytes);
  for (int i = 0; i < blocks; ++i) {
    g_blocks[me][i] = i % 2 == 0 ? malloc(40000) : map_at(NULL, 40000, rw, 0);
    memset(g_blocks[me][i], 2, 40000);
  }
  g_wrong[me] += !is_full_of(at, bytes, 1);
  memset(at, 3, bytes);
  for (int i = 0; i < blocks; ++i) g_wrong[me] += !is_full_of(g_blocks[me][i], 40000, 2);
  for (int i = 0; i < blocks; ++i) i % 2 == 0 ? free(g_blocks[me][i]) : (void)munmap(g_blocks[me][i], 40000);
  g_at = at;
  return NULL;
}
/// Another thread unmaps what the one before has mapped over.
static void* unmap_and_take(void* argument) {
  const intptr_t me = (intptr_t)argument;
  char* const at = g_at;
  g_wrong[me] += munmap(at, bytes) != 0;
  g_wrong[me] += munmap(at, bytes) != 0;  // of nothing: that is no error
  g_wrong[me] += mprotect(at, bytes, PROT_NONE) != -1 || errno != ENOMEM;
  g_wrong[me] += mmap(NULL, page, rw, MAP_ANONYMOUS, -1, 0) != MAP_FAILED || errno != EINVAL;
  g_wrong[me] += map_at(at, bytes, rw, MAP_FIXED_NOREPLACE) != at;
  g_wrong[me] += map_at(at, bytes, rw, MAP_FIXED_NOREPLACE) != MAP_FAILED || errno != EEXIST;
  g_wrong[me] += !is_full_of(at, bytes, 0);
  memset(at, 4, bytes);
  char* const other = malloc(bytes);
  memset(other, 6, bytes);
  g_wrong[me] += !is_full_of(at, bytes, 4);
  free(other);
  return NULL;
}

/// In other parts than it was mapped in: each time all is free again.
static void* unmap_in_parts(void* argument) {
  const intptr_t me = (intptr_t)argument;
  for (int round = 0; round < rounds; ++round) {
    char* const at = map_at(NULL, large, rw, 0);
    if (at == MAP_FAILED) return ++g_wrong[me], NULL;
    munmap(at, large);
    for (int i = 0; i < 4; ++i) {  // four mappings where one was
      if (map_at(at + i * (large / 4), large / 4, i % 2 == 0 ? rw : PROT_NONE, MAP_FIXED) == MAP_FAILED) abort();
    }
    at[0] = at[large / 2] = 1;
    munmap(at + large / 8, large - large / 4);  // the end of one, two, the beginning of the last
    munmap(at, large / 8);
    munmap(at + large - large / 8, large / 8);
  }
  return NULL;
}
static void* shrink(void* argument) {
  const intptr_t me = (intptr_t)argument;
  for (int round = 0; round < rounds; ++round) {
    char* const at = map_at(NULL, large, rw, 0);
    if (at == MAP_FAILED) return ++g_wrong[me], NULL;
    memset(at, 7, page);
    g_wrong[me] += mremap(at, large, page, 0) != at || at[page - 1] != 7;
    munmap(at, page);
  }
  return NULL;
}

/// To an address of the program's choice: where something was, and where nothing is.
static void* move_there(void* argument) {
  const intptr_t me = (intptr_t)argument;
  char* const at = map_at(NULL, bytes, rw, 0);
  char* const to = map_at(NULL, 2 * bytes, rw, 0);
  memset(at, 8, bytes);
  memset(to, 9, 2 * bytes);
  g_wrong[me] += mremap(at, bytes, bytes + page, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to;
  g_wrong[me] += !is_full_of(to, bytes, 8) || !is_full_of(to + bytes, page, 0);
  g_wrong[me] += !is_full_of(to + bytes + page, bytes - page, 9);
  g_wrong[me] += mremap(to, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at || !is_full_of(at, bytes, 8);
  g_wrong[me] += mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at + page) != MAP_FAILED || errno != EINVAL;
  munmap(at, bytes);
  munmap(to, 2 * bytes);
  return NULL;
}

static sigjmp_buf g_back;
static void on_fault(int number) {
  (void)number;
  siglongjmp(g_back, 1);
}
static int is_there(const volatile char* at) {
  if (sigsetjmp(g_back, 1) != 0) return 0;
  (void)*at;
  return 1;
}

int main(void) {
  void* (*const all[])(void*) = {map_and_take, unmap_and_take, unmap_in_parts, shrink, move_there};
  int wrong = 0;
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
    run(all[i]);
    for (int k = 0; k < threads; ++k) wrong += g_wrong[k], g_wrong[k] = 0;
    printf("%u: %d wrong\n", i, wrong);
  }
  signal(SIGSEGV, on_fault);
  char* const at = map_at(NULL, large, rw, 0);
  at[page] = 1;
  printf("shrunk: %d, ", mremap(at, large, page, 0) == at);
  printf("the page that is left: %d, the one behind it: %d\n", is_there(at), is_there(at + page));
  return wrong != 0;
}
