/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of C11. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

enum { threads = 5, rounds = 100 };
static mtx_t g_mutex, g_recursive;
static cnd_t g_condition;
static once_flag g_once = ONCE_FLAG_INIT;
static tss_t g_key;
static atomic_long g_atomic;
static long g_sum, g_made, g_destroyed;
static int g_turn;
static thread_local long t_own = 3;

static void make(void) { ++g_made; }
static void destroy(void* value) {
  mtx_lock(&g_mutex);
  g_destroyed += *(long*)value;
  mtx_unlock(&g_mutex);
  free(value);
}

static int body(void* argument) {
  const int me = (int)(long)argument;
  long on_stack[1000];
  call_once(&g_once, make);
  long* value = malloc(sizeof *value);
  *value = me;
  tss_set(g_key, value);
  for (int i = 0; i < 1000; ++i) on_stack[i] = i;
  for (int i = 0; i < rounds; ++i) {
    mtx_lock(&g_recursive);
    mtx_lock(&g_recursive);
    g_sum += on_stack[me];
    mtx_unlock(&g_recursive);
    mtx_unlock(&g_recursive);
    atomic_fetch_add(&g_atomic, 1);
    t_own += me;
  }
  mtx_lock(&g_mutex);
  while (g_turn != me) cnd_wait(&g_condition, &g_mutex);
  ++g_turn;
  cnd_broadcast(&g_condition);
  mtx_unlock(&g_mutex);
  if (tss_get(g_key) != value) return -1;
  if (me == 2) thrd_exit((int)t_own + 1);
  return (int)t_own;
}

static int sleep_and_go(void* done) {
  const struct timespec little = {0, 1000000};
  thrd_sleep(&little, NULL);
  thrd_yield();
  atomic_store((atomic_long*)done, 1);
  return 0;
}

int main(void) {
  thrd_t all[threads];
  int result = 0, results = 0;
  mtx_init(&g_mutex, mtx_plain);
  mtx_init(&g_recursive, mtx_plain | mtx_recursive);
  cnd_init(&g_condition);
  tss_create(&g_key, destroy);
  for (long i = 0; i < threads; ++i) {
    if (thrd_create(&all[i], body, (void*)i) != thrd_success) puts("no thread");
  }
  for (int i = 0; i < threads; ++i) {
    if (thrd_join(all[i], &result) != thrd_success) puts("not joined");
    results = results * 7 + result;
  }
  printf("sum %ld, atomic %ld, made %ld, destroyed %ld, results %d, own %ld\n", g_sum, g_atomic, g_made, g_destroyed,
         results, t_own);
  atomic_long done = 0;
  thrd_create(&all[0], sleep_and_go, &done);
  thrd_detach(all[0]);
  while (atomic_load(&done) == 0) thrd_yield();
  printf("itself %d\n", thrd_equal(thrd_current(), thrd_current()) != 0);
  return 0;
}
