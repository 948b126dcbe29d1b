/* SPDX-License-Identifier: BSD-3-Clause */
// The bounds of one's own stack, as collectors and interpreters ask for them; and a path that is found in a short
// buffer.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  char path[16];
  char after[4096];
} found;

static void* ask(void* who) {
  pthread_attr_t about;
  void* first = NULL;
  size_t bytes = 0;
  char here;
  if (pthread_getattr_np(pthread_self(), &about) != 0) abort();
  pthread_attr_getstack(&about, &first, &bytes);
  pthread_attr_destroy(&about);
  printf("%s: a local variable %s on it\n", (const char*)who,
         &here >= (char*)first && &here < (char*)first + bytes ? "is" : "is not");
  memset(&found, 'x', sizeof found);
  const char* const path = realpath("/usr/../usr/./lib", found.path);
  int changed = 0;
  for (size_t i = 0; i < sizeof found.after; ++i) changed += found.after[i] != 'x';
  printf("%s, and %d bytes after it are other ones\n", path, changed);
  return NULL;
}

int main(void) {
  ask("main");
  for (int i = 0; i < 3; ++i) {
    pthread_t one;
    pthread_create(&one, NULL, ask, "a thread");
    pthread_join(one, NULL);
  }
  // On a stack that the program gives it.
  enum { bytes = 1 << 18 };
  pthread_attr_t about;
  pthread_t one;
  void* const given = aligned_alloc(4096, bytes);
  pthread_attr_init(&about);
  if (given == NULL || pthread_attr_setstack(&about, given, bytes) != 0) abort();
  if (pthread_create(&one, &about, ask, "one with a stack of its own") != 0) abort();
  pthread_join(one, NULL);
  return 0;
}
