/* SPDX-License-Identifier: BSD-3-Clause */
// A thread of another node maps over what one of this node has filled: all see zeroes, then what is written there.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { bytes = 1 << 20 };
static char* g_memory;

static void* fill(void* unused) {
  memset(g_memory, 7, bytes);
  return unused;
}
static void* again(void* unused) {
  const int old = g_memory[0];
  if (mmap(g_memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != g_memory)
    perror("mmap");
  printf("before %d, after %d\n", old, g_memory[bytes / 2]);
  memset(g_memory + bytes / 2, 9, bytes / 2);
  return unused;
}
static void run(void* (*body)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, body, NULL);
  pthread_join(thread, NULL);
}

int main(void) {
  int wrong = 0;
  g_memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  run(fill);
  run(again);
  for (int i = 0; i < bytes; ++i) wrong += g_memory[i] != (i < bytes / 2 ? 0 : 9);
  printf("wrong bytes: %d\n", wrong);
  return wrong != 0;
}
