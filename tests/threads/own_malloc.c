/* SPDX-License-Identifier: BSD-3-Clause */
// The executable has an allocator of its own; with PART not all of one.
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char memory[1 << 22];
static size_t used;

void* malloc(size_t bytes) {
  const size_t at = __atomic_fetch_add(&used, (bytes + 15) / 16 * 16, __ATOMIC_RELAXED);
  return at + bytes <= sizeof memory ? memory + at : 0;
}
#ifndef PART
void* realloc(void* old, size_t bytes) {
  char* const at = malloc(bytes);
  if (at != 0 && old != 0) memmove(at, old, bytes);  // which lies before it
  return at;
}
#endif
void* calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void free(void* at) { (void)at; }

static void* take(void* at) {
  char* const mine = malloc(100);
  return mine > memory && mine < memory + sizeof memory ? at : 0;
}

int main(void) {
  pthread_t thread;
  void* own = 0;
  pthread_create(&thread, 0, take, memory);
  pthread_join(thread, &own);
  puts(own == memory ? "done" : "memory of another allocator");
  return own != memory;
}
