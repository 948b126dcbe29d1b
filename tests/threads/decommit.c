/* SPDX-License-Identifier: BSD-3-Clause */
// What allocators do with mappings: threads of all nodes commit chunks of one reservation, hand them on, and give them
// back in each way there is. What comes again is zero; what was handed on is what was written.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { reserved = 1 << 26, threads = 6, rounds = 24, chunk = 1 << 16, page = 4096, rw = PROT_READ | PROT_WRITE };
enum { anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
static char* g_reserved;
static char* g_box[threads];
static int g_wrong[threads];
static pthread_barrier_t g_all;

static int is_full_of(const char* at, int bytes, char what) {
  for (int i = 0; i < bytes; ++i) {
    if (at[i] != what) return 0;
  }
  return 1;
}

static void commit(char* at, int how) {
  if (how % 2 == 0) {
    if (mprotect(at, chunk, rw) != 0) abort();
  } else {
    if (mmap(at, chunk, rw, anonymous | MAP_FIXED, -1, 0) != at) abort();
  }
}
static void decommit(char* at, int how) {
  switch (how % 3) {
    case 0:
      if (mmap(at, chunk, PROT_NONE, anonymous | MAP_FIXED, -1, 0) != at) abort();
      break;
    case 1:
      if (madvise(at, chunk, MADV_DONTNEED) != 0 || mprotect(at, chunk, PROT_NONE) != 0) abort();
      break;
    default:
      if (mmap(at, chunk, rw, anonymous | MAP_FIXED, -1, 0) != at) abort();
  }
}

/// As allocators find an alignment: more than is wanted, of which head and tail are unmapped.
static char* map_aligned(void) {
  char* const at = mmap(NULL, 2 * chunk, rw, anonymous, -1, 0);
  char* const aligned = (char*)(((uintptr_t)at + chunk - 1) / chunk * chunk);
  if (at == MAP_FAILED) abort();
  if (aligned != at) munmap(at, (size_t)(aligned - at));
  if (aligned + chunk != at + 2 * chunk) munmap(aligned + chunk, (size_t)(at + chunk - aligned));
  return aligned;
}

static void* work(void* argument) {
  const int me = (int)(intptr_t)argument, before = (me + threads - 1) % threads;
  for (int round = 0; round < rounds; ++round) {
    char* const mine = g_reserved + ((size_t)me + (size_t)(round % 5) * threads) * chunk;
    commit(mine, round + me);
    g_wrong[me] += !is_full_of(mine, chunk, 0);
    memset(mine, 1 + me, chunk);
    g_box[me] = mine;
    pthread_barrier_wait(&g_all);
    char* const other = g_box[before];
    g_wrong[me] += !is_full_of(other, chunk, (char)(1 + before));
    decommit(other, round + me);
    pthread_barrier_wait(&g_all);
    char* const own = round % 8 != 0 ? NULL : map_aligned();
    if (own != NULL) memset(own, 2 + me, chunk);
    g_box[me] = own;
    pthread_barrier_wait(&g_all);
    if (own != NULL) {
      g_wrong[me] += !is_full_of(g_box[before], chunk, (char)(2 + before));
      munmap(g_box[before], chunk);
    }
    pthread_barrier_wait(&g_all);
  }
  return NULL;
}

/// More than there is, one after the other: each mapping is given back with the last part that is unmapped.
static int parts(void) {
  enum { most = 1 << 22 };
  int wrong = 0;
  for (int i = 0; i < 40; ++i) {
    char* const at = mmap(NULL, most, rw, anonymous, -1, 0);
    if (at == MAP_FAILED) return 1000;
    at[most / 2] = 1;
    wrong += at[most / 4] != 0 || at[most - 1] != 0;
    for (int k = 0; k < 4; ++k) munmap(at + (k * 3 + i) % 4 * (most / 4), most / 4);
  }
  return wrong;
}

/// A block with pages that nobody may access, which is freed so.
static int guarded_blocks(void) {
  int wrong = 0;
  mallopt(M_MMAP_THRESHOLD, 64 * page);  // glibc unmaps them
  for (int i = 0; i < 20; ++i) {
    char* const at = aligned_alloc(page, 64 * page);
    memset(at, 1, 64 * page);
    wrong += mprotect(at + page, page, PROT_NONE) != 0;
    if (i % 2 == 0) wrong += mprotect(at + page, page, rw) != 0 || at[page] != 1;
    free(at);
  }
  return wrong;
}

// A handler of SIGSEGV opens pages as they are used: each is opened once or more, and holds what all have written.
static char* g_lazy;
static void open_page(int number, siginfo_t* about, void* context) {
  (void)number, (void)context;
  char* const at = about->si_addr;
  if (at < g_lazy || at >= g_lazy + chunk || about->si_code != SEGV_ACCERR) _exit(3);
  if (mprotect(g_lazy + (at - g_lazy) / page * page, page, rw) != 0) _exit(4);
}
static void* use_lazily(void* argument) {
  const int me = (int)(intptr_t)argument;
  for (int i = 0; i < chunk / page; ++i) g_lazy[(i * 7 + me) % (chunk / page) * page + me] = (char)(1 + me);
  return NULL;
}
static int lazy_pages(void) {
  struct sigaction now = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO}, before;
  pthread_t all[threads];
  int wrong = 0;
  sigaction(SIGSEGV, &now, &before);
  g_lazy = mmap(NULL, chunk, PROT_NONE, anonymous, -1, 0);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, use_lazily, (void*)(intptr_t)i);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  for (int i = 0; i < chunk; ++i) wrong += g_lazy[i] != (i % page < threads ? 1 + i % page : 0);
  sigaction(SIGSEGV, &before, NULL);
  return wrong;
}

static pthread_mutex_t g_end = PTHREAD_MUTEX_INITIALIZER;
static void* grow(void* argument) {
  char** const got = argument;
  for (int i = 0; i < 8; ++i) {
    pthread_mutex_lock(&g_end);  // libc's own has no lock
    char* const at = sbrk(page);
    pthread_mutex_unlock(&g_end);
    if (at == (char*)-1) abort();
    memset(at, 1 + i, page);
    got[i] = at;
  }
  return NULL;
}
static int data_end(void) {
  static char* got[threads][8];
  pthread_t all[threads];
  int wrong = 0;
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, grow, got[i]);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  for (int i = 0; i < threads; ++i) {
    for (int k = 0; k < 8; ++k) wrong += !is_full_of(got[i][k], page, (char)(1 + k));
  }
  return wrong;
}

/// The program closes pages of what sbrk() has given, and gives them back.
static void* move_end(void* argument) {
  int* const wrong = argument;
  char* const at = sbrk(8 * page);
  char* const begin = (char*)(((uintptr_t)at + page - 1) / page * page);
  memset(at, 5, 8 * page);
  *wrong += mprotect(begin + page, 2 * page, PROT_NONE) != 0;
  *wrong += sbrk(-8 * page) != at + 8 * page;
  char* const again = sbrk(8 * page);
  *wrong += again != at || !is_full_of(begin, 7 * page, 0);
  memset(at, 6, 8 * page);
  *wrong += brk(at) != 0 || sbrk(0) != at;
  return NULL;
}
static int closed_end(void) {
  static int wrong[threads];
  int all = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, move_end, &wrong[i]);
    pthread_join(thread, NULL);
    all += wrong[i];
  }
  return all;
}

int main(void) {
  pthread_t all[threads];
  int wrong = 0;
  g_reserved = mmap(NULL, (size_t)reserved, PROT_NONE, anonymous, -1, 0);
  if (g_reserved == MAP_FAILED) return 2;
  pthread_barrier_init(&g_all, NULL, threads);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (void*)(intptr_t)i);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL), wrong += g_wrong[i];
  printf("reservation: %d wrong\n", wrong);
  printf("parts: %d wrong\n", parts());
  printf("guards: %d wrong\n", guarded_blocks());
  printf("end of data: %d wrong\n", data_end());
  printf("closed end of data: %d wrong\n", closed_end());
  printf("lazily: %d wrong\n", lazy_pages());
  printf("unmapped: %d\n", munmap(g_reserved, (size_t)reserved));
  return wrong != 0;
}
