/* SPDX-License-Identifier: BSD-3-Clause */
// Accesses that no node may make, or not this one: each ends the program.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { bytes = 1 << 16, page = 4096, rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS };
static char* g_memory;

static void* nothing(void* unused) { return unused; }
static void* touch(void* unused) {
  g_memory[100] = 1;
  return unused;
}
static void run(void* (*body)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, body, NULL);
  pthread_join(thread, NULL);
}

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "here") == 0 || strcmp(what, "there") == 0) {
    g_memory = mmap(NULL, bytes, rw, anonymous, -1, 0);
    g_memory[100] = 3;
    mprotect(g_memory, bytes, PROT_NONE);
    if (what[0] == 'h') touch(NULL);
  } else if (strcmp(what, "part") == 0) {  // of two pages the first is static data, and the second is not
    extern char _end[];
    char* const edge = (char*)(((uintptr_t)_end + page - 1) / page * page);
    if (mmap(edge - page, 2 * page, rw, anonymous | MAP_FIXED, -1, 0) == MAP_FAILED) abort();
  } else if (strcmp(what, "fixed") == 0) {
    g_memory = mmap((void*)0x500000000000, bytes, rw, anonymous | MAP_FIXED, -1, 0);
  } else {
    g_memory =
        mmap(NULL, bytes, rw | (what[0] == 'c' ? PROT_EXEC : 0), anonymous | (what[0] == 'l' ? MAP_32BIT : 0), -1, 0);
  }
  run(nothing);  // on node 0, where threads go round
  run(touch);
  printf("went on\n");
  return 0;
}
