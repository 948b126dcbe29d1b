/* SPDX-License-Identifier: BSD-3-Clause */
// The executable has an allocator of its own, which gives blocks to its threads and to libc. Ends with the number of
// its arguments.
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char memory[1 << 22];
static size_t used;

void* malloc(size_t bytes) {
  const size_t at = __atomic_fetch_add(&used, (bytes + 15) / 16 * 16, __ATOMIC_RELAXED);
  return at + bytes <= sizeof memory ? memory + at : 0;
}
void* realloc(void* old, size_t bytes) {
  char* const at = malloc(bytes);
  if (at != 0 && old != 0) memmove(at, old, bytes);  // which lies before it
  return at;
}
void* calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void free(void* at) { (void)at; }

static int is_mine(const char* at) { return at > memory && at < memory + sizeof memory; }

static void* take(void* at) {
  char* const copy = strdup("of libc");
  return is_mine(malloc(100)) && is_mine(copy) ? at : 0;
}

int main(int count, char** arguments) {
  pthread_t thread;
  void* own = 0;
  pthread_create(&thread, 0, take, memory);
  pthread_join(thread, &own);
  puts(own == memory ? "done" : "memory of another allocator");
  for (int i = 1; i < count; ++i) puts(arguments[i]);
  const char* const preloaded = getenv("LD_PRELOAD");
  puts(preloaded == 0 ? "nothing preloaded" : preloaded);
  return count - 1;
}
