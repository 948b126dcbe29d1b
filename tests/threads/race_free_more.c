/* SPDX-License-Identifier: BSD-3-Clause */
// Threads of pthreads and of C11 without data races, one of each other way to order writes: `quire run --check` tells
// nothing. An argument: the only one to run.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

enum { count = 1 << 15, rounds = 40, words = 600 };
static long table[count];

static void change(long by) {
  for (int i = 0; i < words; ++i) table[i] += by + i;
}
/// Two threads, and then this one.
static void pair(void* (*one)(void*), void* (*two)(void*)) {
  pthread_t both[2];
  pthread_create(&both[0], NULL, one, NULL);
  pthread_create(&both[1], NULL, two, table);
  for (int i = 0; i < 2; ++i) pthread_join(both[i], NULL);
  change(1);
}

static pthread_once_t first = PTHREAD_ONCE_INIT;
static void make(void) { change(3); }
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* find_made(void* none) {
  pthread_once(&first, make);
  pthread_mutex_lock(&mutex);
  change(table[7]);
  pthread_mutex_unlock(&mutex);
  return none;
}
static void once(void) { pair(find_made, find_made); }

static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static void* read_and_write(void* me) {
  long seen = 0;
  for (int r = 0; r < rounds; ++r) {
    pthread_rwlock_rdlock(&both);
    for (int i = 0; i < words; ++i) seen += table[i];
    pthread_rwlock_unlock(&both);
    pthread_rwlock_wrlock(&both);
    change(r);
    pthread_rwlock_unlock(&both);
  }
  return seen == 1 ? me : NULL;
}
static void rwlocks(void) { pair(read_and_write, read_and_write); }

static pthread_spinlock_t spin;
static void* take_spin(void* me) {
  for (int r = 0; r < rounds; ++r) {
    pthread_spin_lock(&spin);
    change(r);
    pthread_spin_unlock(&spin);
  }
  return me;
}
static void spins(void) {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pair(take_spin, take_spin);
}

static pthread_barrier_t together;
static void* alternate(void* me) {
  for (int r = 0; r < rounds; ++r) {
    if (r % 2 == (me != NULL ? 1 : 0)) change(r);
    pthread_barrier_wait(&together);
  }
  return me;
}
static void barriers(void) {
  pthread_barrier_init(&together, NULL, 2);
  pair(alternate, alternate);
}

/// The last of the chain joins all before it.
static void* chain(void* depth) {
  pthread_t next;
  change(2);
  if (depth != NULL) {
    pthread_create(&next, NULL, chain, (char*)depth - 1);
    pthread_join(next, NULL);
  }
  change(4);
  return NULL;
}
static void joins(void) {
  pthread_t next;
  pthread_create(&next, NULL, chain, (char*)NULL + 5);
  pthread_join(next, NULL);
  change(1);
}

static mtx_t c_mutex;
static cnd_t c_condition;
static once_flag c_first = ONCE_FLAG_INIT;
static int turn;
static int take_turns(void* me) {
  call_once(&c_first, make);
  for (int r = 0; r < rounds; ++r) {
    mtx_lock(&c_mutex);
    while (turn % 2 != (me != NULL ? 1 : 0)) cnd_wait(&c_condition, &c_mutex);
    change(r);
    ++turn;
    cnd_broadcast(&c_condition);
    mtx_unlock(&c_mutex);
  }
  return 5;
}
static void c11(void) {
  thrd_t made[2];
  int said = 0;
  mtx_init(&c_mutex, mtx_plain);
  cnd_init(&c_condition);
  thrd_create(&made[0], take_turns, NULL);
  thrd_create(&made[1], take_turns, table);
  for (int i = 0; i < 2; ++i) thrd_join(made[i], &said);
  change(said);
}

static atomic_int passed;
static void* hand_over(void* me) {
  for (int r = 0; r < rounds; ++r) {
    while (atomic_load_explicit(&passed, memory_order_acquire) % 2 != (me != NULL ? 1 : 0)) thrd_yield();
    change(r);
    atomic_fetch_add_explicit(&passed, 1, memory_order_release);
  }
  return me;
}
static void flags(void) { pair(hand_over, hand_over); }

int main(int arguments, char** words_of) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"once", once},   {"rwlocks", rwlocks}, {"spins", spins}, {"barriers", barriers},
               {"joins", joins}, {"c11", c11},         {"flags", flags}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (arguments < 2 || strcmp(kinds[i].name, words_of[1]) == 0) kinds[i].run();
  printf("%ld\n", table[7]);
  return 0;
}
