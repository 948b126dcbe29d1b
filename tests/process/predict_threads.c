/* SPDX-License-Identifier: BSD-3-Clause */
/* For predict_test: a plain program with pthreads. Two threads compute for MILLISECONDS of processor time each, and add
 * one to a sum; the exit status is 0 if that is 2. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static double g_seconds;
static int g_sum;

static double processor_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void* work(void* unused) {
  const double until = processor_s() + g_seconds;
  (void)unused;
  while (processor_s() < until) continue;
  pthread_mutex_lock(&g_lock);
  ++g_sum;
  pthread_mutex_unlock(&g_lock);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[2];
  g_seconds = argc > 1 ? atoi(argv[1]) / 1e3 : 0.1;
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) return 2;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return g_sum != 2;
}
