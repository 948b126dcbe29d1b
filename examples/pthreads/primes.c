/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts primes by a pool of threads: each takes a span of numbers from a queue, as long as there are any. A plain
 * program with pthreads, which knows nothing of Quire: `gcc -O2 -pthread primes.c -o primes -lm && quire run -n 4
 * ./primes [LIMIT [THREADS]]`. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { span = 20000, most_threads = 1000 };

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static long g_limit = 2000000, g_next = 0;

static int is_prime(long number) {
  if (number < 4) return number > 1;
  if (number % 2 == 0) return 0;
  for (long factor = 3, last = (long)sqrt((double)number); factor <= last; factor += 2) {
    if (number % factor == 0) return 0;
  }
  return 1;
}

/* The first number of a span that nobody has; the limit: there is none. */
static long take(void) {
  pthread_mutex_lock(&g_lock);
  const long first = g_next < g_limit ? g_next : g_limit;
  g_next += span;
  pthread_mutex_unlock(&g_lock);
  return first;
}

static void* count(void* unused) {
  (void)unused;
  long found = 0;
  for (long first; (first = take()) < g_limit;) {
    const long last = first + span < g_limit ? first + span : g_limit;
    for (long number = first; number < last; ++number) found += is_prime(number);
  }
  return (void*)found;
}

int main(int words, char** word) {
  pthread_t threads[most_threads];
  long all = 0;
  const int wanted = words > 2 ? atoi(word[2]) : 8;
  const int number = wanted < 1 ? 1 : wanted > most_threads ? most_threads : wanted;
  if (words > 1) g_limit = atol(word[1]);
  for (int i = 0; i < number; ++i) {
    if (pthread_create(&threads[i], NULL, count, NULL) != 0) return fputs("a thread cannot be made\n", stderr), 1;
  }
  for (int i = 0; i < number; ++i) {
    void* found = NULL;
    pthread_join(threads[i], &found);
    all += (long)found;
  }
  printf("%ld primes below %ld\n", all, g_limit);
  return 0;
}
