/* SPDX-License-Identifier: BSD-3-Clause */
// A library that is linked, and stands before libc, has functions with names of libc's and data of its own.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern long calls_before_libc;
extern char** environ;
static int g_ran;
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

static void* work(void* p) {
  pthread_mutex_lock(&g_lock);
  ++g_ran;
  *(long*)p = 1;
  pthread_mutex_unlock(&g_lock);
  return p;
}

int main(void) {
  enum { threads = 6 };
  pthread_t all[threads];
  static long of[threads * 512];
  for (long i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, &of[i * 512]);
  long sum = 0;
  for (long i = 0; i < threads; ++i) {
    pthread_join(all[i], NULL);
    sum += of[i * 512];
  }
  static const char text[] = "written\n";
  if (write(1, text, strlen(text)) < 0) return 1;
  printf("%d ran, %ld, an environment: %d, counted: %d\n", g_ran, sum, environ != NULL, calls_before_libc > 0);
  return 0;
}
