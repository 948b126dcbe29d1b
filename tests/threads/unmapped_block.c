/* SPDX-License-Identifier: BSD-3-Clause */
/* A block of malloc's that the program unmaps and maps again stays the program's: no other block lies there. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { bytes = 65536 };
static char* g_block;

static void* fill(void* other) {
  memset(g_block, 2, bytes);
  return other;
}

int main(void) {
  pthread_t thread;
  g_block = aligned_alloc(4096, bytes);
  memset(g_block, 1, bytes);
  printf("unmapped: %d\n", munmap(g_block, bytes));
  void* const again = mmap(g_block, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  printf("again: %d, reads %d\n", again == g_block, g_block[100]);
  pthread_create(&thread, NULL, fill, NULL);
  pthread_join(thread, NULL);
  char* const other = malloc(bytes);
  memset(other, 3, bytes);
  int wrong = 0;
  for (int i = 0; i < bytes; ++i) wrong += g_block[i] != 2;
  printf("wrong: %d\n", wrong);
  free(other);
  return wrong != 0;
}
